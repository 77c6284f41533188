"""History of an object or a collection: a stream of past writes, newest first.

Concurrency: the generator of the response reads the store page by page, as its client reads, so one page is in memory.
A page is small in bytes: its size follows from the objects of the page before it.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Final

from sampan.core.errors import StatusError, bad_request, internal_error, unauthorized
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.compression import GZIP, VARY, accepts_gzip
from sampan.server.request import Response
from sampan.server.verbs.history.lines import HistoryLines, end_line, error_line
from sampan.server.verbs.history.options import PARAMETER, HistoryMode, HistoryOptions, history_options
from sampan.server.verbs.history.selected import Selected
from sampan.server.verbs.representations.pieces import compressed
from sampan.server.verbs.scope import RequestScope
from sampan.storage.store import RowWrite, Untransformable

CONTENT_TYPE: Final = "application/x-ndjson"
PAGE_FIRST: Final = 8
"""Writes of the first page, before the size of the objects is known."""
PAGE_MAX: Final = 128
PAGE_BYTES: Final = 2 << 20
"""Size of the objects of a further page. A first page of the largest objects has 12 MiB."""


async def history(scope: RequestScope) -> Response:
    """Return 200 with a stream of JSON lines. Raises 400, 403, 404, and 500 if the first page cannot be converted."""
    info = scope.request.info
    if info.verb not in ("get", "list") or scope.request.wire.method != "GET":
        raise bad_request(f"{PARAMETER} is a parameter of GET, without watch")
    options = history_options(scope.request)
    await _authorize(scope)
    pages = _Pages(scope, options)
    await scope.endpoint.store.fresh_cache()
    first = await pages.next()
    if options.mode is HistoryMode.REVISIONS and not first and not await pages.was_there():
        raise scope.endpoint.store.not_found(info.name)
    stream = _stream(pages, await pages.encoded(first))
    response = Response(200, content_type=CONTENT_TYPE, stream=stream, finite=True)
    if accepts_gzip(scope.request.headers):
        response.stream, response.headers = compressed(stream), [GZIP, VARY]
    return response


async def _authorize(scope: RequestScope) -> None:
    """Authorize `list`, which the path of an object does not need otherwise. Raises 403.

    Past states are the result of lists at exact revisions, so the same right is required: a list with the name.
    """
    request, info = scope.request, scope.request.info
    if info.verb == "list":
        return  # the filter has authorized it
    if request.user is None:
        raise unauthorized()
    namespace = info.namespace if scope.endpoint.definition.namespaced else ""
    info = replace(info, verb="list", namespace=namespace)
    verdict = await scope.shared.authorizer.authorize(request.user, info)
    if verdict.decision is not Decision.ALLOW:
        raise forbidden_error(request.user, info, verdict.reason)


async def _stream(pages: "_Pages", first: bytes) -> AsyncGenerator[bytes, None]:
    """Yield the lines, and the end. An error after the start of the response is its last line."""
    if first:
        yield first
    try:
        while not pages.complete:
            lines = await pages.encoded(await pages.next())
            if lines:
                yield lines
            else:
                await asyncio.sleep(0)
        yield end_line(*await pages.end())
    except StatusError as error:
        yield error_line(error.to_status())
    except Untransformable as error:
        yield error_line(internal_error(str(error)).to_status())


class _Pages:
    """Reads the writes of one request in pages."""

    def __init__(self, scope: RequestScope, options: HistoryOptions) -> None:
        self._endpoint = scope.endpoint
        self._options = options
        self._store = store = scope.endpoint.store
        self._selected = Selected(scope, options)
        self._key = store.key(scope.ctx.namespace, scope.request.info.name)
        self._range = self._selected.range
        self._lines = HistoryLines(scope.endpoint, store.recent_writes)
        self._before = options.before
        self._left = options.limit
        self._size = PAGE_FIRST
        self._last: RowWrite | None = None
        self._is_limited = False
        self.complete = False
        """True if all pages have been read."""

    async def next(self) -> Sequence[tuple[RowWrite, bytes | str]]:
        """Return the selected writes of the next page, with their objects. Raises `StatusError` 500."""
        size = min(self._size, self._left + 1)  # one more shows if there are further writes
        writes = await self._read(self._before, size)
        if len(writes) < size:
            self.complete = True
        if not writes:
            return ()
        total = sum(len(write.row.value) for write in writes)
        note_size(total)
        self._size = max(1, min(PAGE_MAX, PAGE_BYTES * len(writes) // max(total, 1)))
        self._before = writes[-1].revision
        found = await self._selected.states(writes)
        if len(found) > self._left:
            found = found[: self._left]
            self._is_limited = self.complete = True
        self._left -= len(found)
        if found:
            self._last = found[-1][0]
        return found

    async def encoded(self, states: Sequence[tuple[RowWrite, bytes | str]]) -> bytes:
        """Return the lines of a page."""
        return await offloaded(self._lines.joined, states) if states else b""

    async def was_there(self) -> bool:
        """Return True if the store has any write of the object."""
        return bool(await self._store.store.writes_of(self._key, limit=1))

    async def end(self) -> tuple[str, int]:
        """Return the reason of the end, and the revision at which the next page continues."""
        if self._is_limited and self._last is not None:
            return "Limit", self._last.revision
        return "Created" if await self._is_beginning() else "Expired", 0

    async def _is_beginning(self) -> bool:
        """Return True if there were no further writes, not even ones that the store has dropped."""
        store = self._store.store
        if self._options.mode is not HistoryMode.REVISIONS:
            return store.compacted == 0
        if self._last is not None:
            return self._last.revision == self._last.row.create_revision
        newest = await store.writes_of(self._key, limit=1)
        return bool(newest) and self._options.before <= newest[0].row.create_revision

    async def _read(self, before: int, limit: int) -> Sequence[RowWrite]:
        store = self._store.store
        match self._options.mode:
            case HistoryMode.REVISIONS:
                return await store.writes_of(self._key, before=before, limit=limit)
            case HistoryMode.DELETED:
                return await store.deletions(*self._range, before=before, limit=limit)
            case HistoryMode.CHANGES:
                return await store.changes(*self._range, before=before, limit=limit)
