"""LIST: return a consistent page of a resource.

Source: apiserver pkg/storage/{cacher,etcd3}/ list semantics, pkg/endpoints/handlers/get.go (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import in_thread, note_size, offloaded
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.store import ResourceStore
from sampan.server.media import media_of, written
from sampan.server.request import Response
from sampan.server.verbs.options import ListOptions, list_options
from sampan.server.verbs.representations.bodies import CACHED_BYTES_MAX, JOINED_BYTES_MAX, ListTail, Pieces
from sampan.server.verbs.representations.messages import Messages
from sampan.server.verbs.representations.pieces import joined, list_pieces, record_sizes
from sampan.server.verbs.representations.respond import include_object, not_acceptable
from sampan.server.verbs.representations.tables import ROW_AGE_MAX_S, Tabler
from sampan.server.verbs.revision import revision_of_list, wait_not_older
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.selection import SelectionPredicate, selection_of
from sampan.storage.cache import WatchCache
from sampan.storage.records import Page, Record
from sampan.storage.store import Compacted, FutureRevision
from sampan.wire import json as wire_json
from sampan.wire.continue_token import ContinueToken, decode_token, encode_token
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes

TOO_OLD = "The resourceVersion for the provided list is too old."
CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)

Items = Callable[[Sequence[Record]], Awaitable[bytes]]
"""Encodes items of a list, joined with commas."""
_MANY = 500
"""Number of objects from which selecting them takes a turn of the event loop: a millisecond."""
LARGE_BYTES = 64 * 1024
"""Size from which a list is converted to YAML or indented in a thread, so that other requests are not blocked."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Parsed list request: start key, revision (0: now) and limit."""

    prefix: str
    selection: SelectionPredicate
    limit: int
    after_key: str = ""
    exact: int = 0


async def list_objects(scope: RequestScope) -> Response:
    """Return 200 with a list, a Table or a PartialObjectMetadataList."""
    options = list_options(scope.request)
    media = acceptable_for_list(scope)
    query = await query_of(scope, options)
    if _is_streamed(media) or scope.endpoint.store.cache.newest.size_bytes <= JOINED_BYTES_MAX:
        return await _listed(scope, options, query, media)
    async with scope.shared.whole_lists:
        return await _listed(scope, options, query, media)


async def _listed(scope: RequestScope, options: ListOptions, query: ListQuery, media: MediaType | None) -> Response:
    tail, revision = await _tail(scope, options, query, media)
    return await _response(scope, query, tail, media, query.exact or revision)


def acceptable_for_list(scope: RequestScope) -> MediaType | None:
    """Return the media type for a list that the client accepts. Raises 406."""
    media = media_of(scope.request, scope.endpoint.dialect.media_types)
    if media is not None and media.transform == "PartialObjectMetadata":
        raise not_acceptable(media)
    return media


async def page_response(scope: RequestScope, query: ListQuery, page: Page, media: MediaType | None) -> Response:
    """Return the response for a page that was read before."""
    tail = await _tail_of(scope, page, media, 0)
    return await _response(scope, query, tail, media, page.revision)


async def _response(
    scope: RequestScope, query: ListQuery, tail: ListTail, media: MediaType | None, revision: int
) -> Response:
    request = scope.request
    untransformed = media is None or not media.transform
    has_continue = scope.endpoint.dialect.lists_have_continue and untransformed
    metadata = _list_metadata(query, tail, revision, has_continue=has_continue)
    if media is not None and media.format == "protobuf":
        head = _messages(scope, media).list_head(metadata, tail.tail)
        return await tail.response(request, head, media.media_type)
    head = _head(scope.endpoint, media, metadata)
    if media is None or (media.format == "json" and not media.pretty):
        return await tail.response(request, head)
    body = head + tail.tail
    if len(body) < LARGE_BYTES:
        return written(media, body)
    note_size(len(body))
    async with scope.shared.rewriting:
        return await in_thread(written, media, body)


async def _tail(
    scope: RequestScope, options: ListOptions, query: ListQuery, media: MediaType | None
) -> tuple[ListTail, int]:
    """Return the encoded items and their revision. If nothing was written since, the cached items are used."""
    cache, now = scope.endpoint.store.cache.newest, asyncio.get_running_loop().time()
    shared = scope.shared
    form = (media.format == "protobuf", media.transform, media.version) if media is not None else ()
    include = _include(scope, media)
    converted_by = scope.endpoint.definition.webhook
    key = (scope.endpoint.gvk, converted_by, query, options.label_selector, options.field_selector, form, include)
    tail = None if query.exact else shared.bodies.get(key, cache.changed, now)
    if tail is None and len(cache) > _MANY and (not query.limit or query.selection.matches is not None):
        await shared.turn_queue.begin()
        tail = None if query.exact else shared.bodies.get(key, cache.changed, now)  # of another request
    if tail is not None:
        cache.counts.list(tail.size)
        return tail, cache.revision
    stamp = cache.changed
    page = await read_page(scope, options, query)
    scope.request.step("Listing from storage done")
    is_repeated = not query.exact and shared.bodies.is_repeated(key, stamp)
    if not is_repeated:
        tail = await _tail_of(scope, page, media, stamp)
    else:
        async with shared.joining:
            tail = shared.bodies.get(key, stamp, now)
            tail = tail or await _tail_of(scope, page, media, stamp, is_repeated=True)
            shared.bodies.put(key, tail, now)
    if not query.exact:
        cache.counts.list(tail.size)
        shared.bodies.put(key, tail, now)
    return tail, page.revision


async def _tail_of(
    scope: RequestScope,
    page: Page,
    media: MediaType | None,
    stamp: int,
    *,
    is_repeated: bool = False,
) -> ListTail:
    """Encode the items of a page. Those of a large one are joined only if they are `is_repeated`, to be cached."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    page = page._replace(records=await scope.endpoint.store.present_records(page.records))
    pieces: Pieces | None = None
    size = sum(record_sizes(page.records)) if _is_streamed(media) else 0
    if size <= JOINED_BYTES_MAX:
        encoded = await _encoded(scope, page, media, now)
    else:
        note_size(size)
        begin, items, end = _parts(scope, media, now)
        encoded = b""
        if is_repeated and size <= CACHED_BYTES_MAX:
            encoded = await joined(list_pieces(b"", begin=begin, records=page.records, items=items, end=end))
        else:
            pieces = partial(list_pieces, begin=begin, records=page.records, items=items, end=end)
    scope.request.latencies["transform-response-object"] = loop.time() - now
    return ListTail(
        stamp=stamp,
        tail=encoded,
        last_key=page.records[-1].key if page.records else "",
        more=page.more,
        remaining=page.remaining,
        size=len(page.records),
        expires=now + ROW_AGE_MAX_S if media is not None and media.transform == "Table" else 0.0,
        pieces=pieces,
    )


def _is_streamed(media: MediaType | None) -> bool:
    """Return True if a large list of this type is encoded in pieces. The size of a message comes before its items, and
    other types are converted from JSON.
    """
    return media is None or (media.format == "json" and not media.pretty)


def _include(scope: RequestScope, media: MediaType | None) -> str:
    return include_object(scope.request) if media is not None and media.transform == "Table" else ""


def _messages(scope: RequestScope, media: MediaType) -> Messages:
    return Messages(scope.endpoint, media, scope.shared.messages)


async def _encoded(scope: RequestScope, page: Page, media: MediaType | None, now: float) -> bytes:
    endpoint = scope.endpoint
    if endpoint.is_stored_version and (media is None or not (media.transform or media.format == "protobuf")):
        return b',"items":[' + items_bytes(endpoint, page.records) + b"]}"
    _note_sizes(page)
    if media is not None and media.format == "protobuf":
        return await _messages(scope, media).items(page.records)
    begin, items, end = _parts(scope, media, now)
    return begin + await items(page.records) + end


def _parts(scope: RequestScope, media: MediaType | None, now: float) -> tuple[bytes, Items, bytes]:
    """Return the parts of a list in JSON: what is before its items, their encoder, and the end."""
    endpoint = scope.endpoint
    if media is None or not media.transform:
        return b',"items":[', partial(_joined, endpoint), b"]}"
    if media.transform == "Table":
        tabler = Tabler(endpoint, _include(scope, media), media.api_version)
        rows = partial(offloaded, partial(tabler.joined_rows, cache=scope.shared.rows, now=now))
        return tabler.begin, rows, b"]}"
    return b',"items":[', partial(offloaded, partial(_partials, media.api_version)), b"]}"


async def _joined(endpoint: Endpoint, records: Sequence[Record]) -> bytes:
    if endpoint.is_stored_version:
        return items_bytes(endpoint, records)
    return await offloaded(items_bytes, endpoint, records)


def _note_sizes(page: Page) -> None:
    """Record the total size of the objects, because their form for the response must be computed."""
    note_size(sum(len(record.value) for record in page.records))


def _partials(api_version: str, records: Sequence[Record]) -> bytes:
    return b",".join([partial_bytes(record.value, api_version) for record in records])


def _head(endpoint: Endpoint, media: MediaType | None, metadata: dict[str, Any]) -> bytes:
    kind, api_version = endpoint.list_kind, endpoint.api_version
    if media is not None and media.transform:
        kind, api_version = media.transform, media.api_version
    text = f'{{"kind":"{kind}","apiVersion":"{api_version}","metadata":'
    return text.encode() + wire_json.encode(metadata)


async def query_of(scope: RequestScope, options: ListOptions) -> ListQuery:
    """Parse a list request. Raises 400, 422, 504."""
    selection = selection_of(scope.endpoint, options, scope.request.info.name)
    return await _query(scope, options, selection, scope.endpoint.store.scope_prefix(scope.ctx.namespace))


async def read_page(scope: RequestScope, options: ListOptions, query: ListQuery, *, refresh: bool = False) -> Page:
    """Return the records of a list request. Raises 410, 500 when they cannot be converted, 504.

    `refresh`: a webhook must convert them now, if the selection depends on its result.
    """
    page = await _read_page(scope, options, query)
    if query.selection.unconverted is None:
        return page
    return await _confirmed(scope, options, query, page, refresh=refresh)


async def _confirmed(scope: RequestScope, options: ListOptions, query: ListQuery, page: Page, *, refresh: bool) -> Page:
    """Convert a page to the version of the request and keep selected objects, until the limit is reached.

    All pages are of one revision, even if there are writes while a webhook converts them.
    """
    chosen: list[Record] = []
    revision = page.revision
    while True:
        records = await scope.endpoint.store.present_records(page.records, refresh=refresh)
        chosen += [record for record in records if query.selection.confirms(scope.endpoint, record)]
        if not page.more or len(chosen) >= query.limit:
            break
        query = replace(query, after_key=page.records[-1].key, exact=revision)
        page = await _read_page(scope, options, query)
    more = page.more or len(chosen) > query.limit > 0
    return Page(chosen[: query.limit or None], more, None, revision)


async def _read_page(scope: RequestScope, options: ListOptions, query: ListQuery) -> Page:
    store, selection = scope.endpoint.store, query.selection
    cache = store.cache.newest
    if selection.name and not query.after_key and not query.exact:
        return _single(cache, store.key(scope.ctx.namespace, selection.name), selection, scope)
    if not query.exact:
        return cache.list(query.prefix, after_key=query.after_key, limit=query.limit, matches=selection.matches)
    try:
        return await cache.list_at(
            query.exact, query.prefix, after_key=query.after_key, limit=query.limit, matches=selection.matches
        )
    except Compacted:
        raise _expired(options, query) from None
    except FutureRevision as future:
        raise errors.too_large_resource_version(query.exact, future.current_revision) from None


def _single(cache: WatchCache, key: str, selection: SelectionPredicate, scope: RequestScope) -> Page:
    if scope.endpoint.definition.namespaced and not scope.ctx.namespace:
        return cache.list(scope.endpoint.store.prefix, matches=selection.matches)
    record = cache.get(key)
    found = record is not None and (selection.matches is None or selection.matches(record))
    return Page(
        records=[record] if found and record is not None else [], more=False, remaining=None, revision=cache.revision
    )


async def _query(scope: RequestScope, options: ListOptions, selection: SelectionPredicate, prefix: str) -> ListQuery:
    store = scope.endpoint.store
    if options.continue_token:
        return await _continued(store, options, selection, prefix)
    revision = revision_of_list(options.resource_version)
    if not options.resource_version:
        await store.fresh_cache()
        return ListQuery(prefix, selection, options.limit)
    if revision == 0:
        store.cache.newest.poll()
        return ListQuery(prefix, selection, 0)
    if options.resource_version_match == "Exact" or (options.limit and not options.resource_version_match):
        await store.fresh_cache()
        return ListQuery(prefix, selection, options.limit, exact=revision)
    await wait_not_older(store, revision)
    return ListQuery(prefix, selection, options.limit)


async def _continued(
    store: ResourceStore, options: ListOptions, selection: SelectionPredicate, prefix: str
) -> ListQuery:
    try:
        token = decode_token(options.continue_token, prefix)
    except ValueError as error:
        raise errors.bad_request(f"invalid continue token: {error}") from None
    if revision_of_list(options.resource_version):
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    await store.fresh_cache()
    exact = token.revision if token.revision > 0 else 0
    return ListQuery(prefix, selection, options.limit, after_key=token.start, exact=exact)


def _expired(options: ListOptions, query: ListQuery) -> errors.StatusError:
    if not options.continue_token:
        return errors.expired(TOO_OLD)
    token = encode_token(ContinueToken(revision=-1, start=query.after_key), query.prefix)
    return errors.expired(CONTINUE_TOO_OLD, continue_token=token)


def _list_metadata(query: ListQuery, tail: ListTail, revision: int, *, has_continue: bool) -> dict[str, Any]:
    """Return the metadata of a list; with `has_continue` it has an empty `continue` if the list is complete."""
    metadata: dict[str, Any] = {"continue": ""} if has_continue else {}
    metadata["resourceVersion"] = str(revision)
    if tail.more:
        metadata["continue"] = encode_token(ContinueToken(revision=revision, start=tail.last_key), query.prefix)
        if query.selection.everything and tail.remaining is not None:
            metadata["remainingItemCount"] = tail.remaining
    return metadata


def items_bytes(endpoint: Endpoint, records: Sequence[Record]) -> bytes:
    """Return the joined items of a JSON list. Items of built-in types have no apiVersion and kind."""
    if not records:
        return b""
    if endpoint.is_stored_version:
        cut = 1 if endpoint.dialect.items_have_type else len(endpoint.item_prefix)
        return b"{" + b",{".join([record.value[cut:] for record in records])
    return b"{" + b",{".join([endpoint.item_of(record.value) for record in records])
