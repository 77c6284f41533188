"""LIST: a consistent page of a resource.

Source: apiserver pkg/storage/{cacher,etcd3}/ list semantics, pkg/endpoints/handlers/get.go (1.36).
"""

from dataclasses import dataclass
from typing import Any

from sampan.core import errors
from sampan.registry.endpoint import Endpoint
from sampan.server.request import Request, Response
from sampan.server.verbs.options import ListOptions, list_options
from sampan.server.verbs.respond import include_object, media_of, not_acceptable, written
from sampan.server.verbs.revision import parse_resource_version, wait_not_older
from sampan.server.verbs.scope import Scope
from sampan.server.verbs.selection import Selection, selection_of
from sampan.server.verbs.tables import Tabler
from sampan.storage.cache import WatchCache
from sampan.storage.records import Page
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
EXPIRED_START = (
    "The provided from key is too old to display a consistent list result. You must start a new list without "
    "the continue parameter."
)


@dataclass(frozen=True, slots=True)
class Query:
    """A list request, understood: where to begin, at which revision (0 = now), how many."""

    prefix: str
    selection: Selection
    limit: int
    after_key: str = ""
    exact: int = 0


async def list_objects(scope: Scope) -> Response:
    """200 with a list, a Table or a PartialObjectMetadataList."""
    request, endpoint = scope.request, scope.endpoint
    options = list_options(request)
    media = media_of(request)
    if media is not None and media.transform == "PartialObjectMetadata":
        raise not_acceptable(media)
    page, query = await read_page(scope, options)
    metadata = _list_metadata(page, query)
    if media is None:
        return _plain(endpoint, page, query, metadata)
    return written(request, media, _represented(request, endpoint, media, page, metadata))


async def read_page(scope: Scope, options: ListOptions) -> tuple[Page, Query]:
    """The records that a list request asks for. Raises 400, 410, 422, 504."""
    store = scope.endpoint.store
    selection = selection_of(scope.endpoint, options, scope.request.info.name)
    query = await _query(scope, options, selection, store.scope_prefix(scope.ctx.namespace))
    cache = store.cache
    if selection.name and not query.after_key and not query.exact:
        return _single(cache, store.key(scope.ctx.namespace, selection.name), selection, scope), query
    if not query.exact:
        return cache.list(query.prefix, after_key=query.after_key, limit=query.limit, matches=selection.matches), query
    try:
        page = await cache.list_at(
            query.exact, query.prefix, after_key=query.after_key, limit=query.limit, matches=selection.matches
        )
    except Compacted:
        raise _expired(options, query) from None
    except FutureRevision as future:
        raise errors.too_large_resource_version(query.exact, future.current_revision) from None
    return page, query


def _single(cache: WatchCache, key: str, selection: Selection, scope: Scope) -> Page:
    if scope.endpoint.definition.namespaced and not scope.ctx.namespace:
        return cache.list(scope.endpoint.store.prefix, matches=selection.matches)
    record = cache.get(key)
    found = record is not None and (selection.matches is None or selection.matches(record))
    return Page(
        records=[record] if found and record is not None else [], more=False, remaining=None, revision=cache.revision
    )


async def _query(scope: Scope, options: ListOptions, selection: Selection, prefix: str) -> Query:
    cache = scope.endpoint.store.cache
    revision = parse_resource_version(options.resource_version)
    if options.continue_token:
        return await _continued(cache, options, selection, prefix, revision)
    if not options.resource_version:
        await cache.fresh()
        return Query(prefix, selection, options.limit)
    if revision == 0:
        return Query(prefix, selection, 0)
    if options.resource_version_match == "Exact" or (options.limit and not options.resource_version_match):
        await cache.fresh()
        return Query(prefix, selection, options.limit, exact=revision)
    await wait_not_older(cache, revision)
    return Query(prefix, selection, options.limit)


async def _continued(
    cache: WatchCache, options: ListOptions, selection: Selection, prefix: str, revision: int
) -> Query:
    if revision:
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    try:
        token = decode_token(options.continue_token, prefix)
    except ValueError as error:
        raise errors.bad_request(f"invalid continue token: {error}") from None
    await cache.fresh()
    exact = token.revision if token.revision > 0 else 0
    return Query(prefix, selection, options.limit, after_key=token.start, exact=exact)


def _expired(options: ListOptions, query: Query) -> errors.StatusError:
    if not options.continue_token:
        return errors.expired(TOO_OLD)
    token = encode_token(ContinueToken(revision=-1, start=query.after_key), query.prefix)
    return errors.expired(CONTINUE_TOO_OLD, continue_token=token)


def _list_metadata(page: Page, query: Query) -> dict[str, Any]:
    revision = query.exact or page.revision
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if page.more:
        token = ContinueToken(revision=revision, start=page.records[-1].key)
        metadata["continue"] = encode_token(token, query.prefix)
        if query.selection.everything and page.remaining is not None:
            metadata["remainingItemCount"] = page.remaining
    return metadata


def _plain(endpoint: Endpoint, page: Page, query: Query, metadata: dict[str, Any]) -> Response:
    return Response(200, list_bytes(endpoint, page, metadata))


def list_bytes(endpoint: Endpoint, page: Page, metadata: dict[str, Any]) -> bytes:
    """The JSON list."""
    head = (
        b'{"kind":"'
        + endpoint.list_kind.encode()
        + b'","apiVersion":"'
        + endpoint.api_version.encode()
        + b'","metadata":'
        + wire_json.encode(metadata)
        + b',"items":['
    )
    if not page.records:
        return head + b"]}"
    if endpoint.is_stored_version:
        cut = len(endpoint.item_prefix) if endpoint.definition.builtin else 1
        items = b",{".join([record.value[cut:] for record in page.records])
    else:
        items = b",{".join([endpoint.item_of(record.value) for record in page.records])
    return b"".join((head, b"{", items, b"]}"))


def _represented(request: Request, endpoint: Endpoint, media: MediaType, page: Page, metadata: dict[str, Any]) -> bytes:
    if media.transform == "Table":
        tabler = Tabler(endpoint, include_object(request))
        return tabler.table([endpoint.value_of(record.value) for record in page.records], metadata)
    if media.transform == "PartialObjectMetadataList":
        items = b",".join([partial_bytes(record.value) for record in page.records])
        head = b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":'
        return head + wire_json.encode(metadata) + b',"items":[' + items + b"]}"
    return list_bytes(endpoint, page, metadata)
