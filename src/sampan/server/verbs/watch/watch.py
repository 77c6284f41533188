"""WATCH: a stream of events. Each event is encoded once for each representation, for all watchers.

Concurrency: the generator of the response owns its `Watcher`. It ends on timeout, on client disconnect, or if the cache
ends a slow watcher. Pending events are joined into chunks, so a burst takes few writes. The next chunk is
encoded when the client has read the last one, in a turn of the event loop that no other watch has.

Source: apiserver pkg/endpoints/handlers/watch.go, pkg/storage/cacher (1.36).
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from sampan.core import errors
from sampan.core.event_loop.offload import LARGE_BYTES, in_thread
from sampan.core.event_loop.turns import TurnQueue
from sampan.registry.endpoint import Endpoint
from sampan.server.media import media_of
from sampan.server.metrics.watches import Chunk, Sent
from sampan.server.request import Response
from sampan.server.verbs.bookmark_times import BookmarkTimes
from sampan.server.verbs.options import ListOptions, list_options
from sampan.server.verbs.representations.pieces import slices
from sampan.server.verbs.revision import revision_of_read, wait_not_older
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.selection import SelectionPredicate, selection_of
from sampan.server.verbs.watch.converted_events import ConvertedEvents, TimeIsUp
from sampan.server.verbs.watch.frames import Frame, Framer, bookmarker, error_frame, framer
from sampan.storage.records import CacheReset, Delivery, WatcherTooSlow
from sampan.storage.store import Compacted
from sampan.storage.watcher import Watcher
from sampan.wire.negotiation import MediaType, not_acceptable

TIMEOUT_MIN_S = 1800
BOOKMARK_BEFORE_END_S = 2.0

_NOT_STREAMED = ("application/yaml",)


@dataclass(slots=True)
class WatchServer:
    """One watch: its source and its encoding."""

    watcher: Watcher
    framer: Framer
    bookmark: Callable[[int, bool], bytes]
    timeout_s: float
    bookmark_times: BookmarkTimes | None
    """Times of bookmarks; None to send none."""
    has_initial: bool
    """True if the watch begins with an event for each object. Each watcher has its own ones."""
    initial_end: bool
    """True to send a bookmark that marks the end of the initial state."""
    media: MediaType | None
    sent: Sent
    listed: Callable[[], None]
    """Function that is called when the initial state has been sent."""
    begun: Callable[[], None] | None = None
    """Function that is called when the client has read the objects with which the watch begins."""
    converted: ConvertedEvents | None = None
    """Converter of events to the watched version, if a webhook converts."""
    turn_queue: TurnQueue = field(default_factory=TurnQueue)
    """Turns of the event loop, for many events."""
    _first: Frame | None = field(init=False)
    """Encoder of the first event; None if that was sent, or does not differ."""

    def __post_init__(self) -> None:
        self._first = self.framer.first

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield frames of events. Pending events are joined."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.timeout_s
        next_bookmark = self._next_bookmark(loop.time(), end)
        watcher = self.watcher
        try:
            initial = await watcher.next(0)
            async with aclosing(self._chunks(initial.events, end, are_shared=not self.has_initial)) as chunks:
                async for chunk in chunks:
                    yield chunk
            revision = initial.revision
            del initial
            if self.initial_end:
                yield self._single(self.bookmark(revision, True))
                self.listed()
            if self.begun is not None:
                self.begun()
            while (now := loop.time()) < end:
                batch = await watcher.next(max(0.0, min(end, next_bookmark) - now))
                if batch.events:
                    events, batch = batch.events, batch._replace(events=[])
                    if len(events) == 1 or _size(events) <= self.framer.piece_bytes:
                        chunk = await self._chunk(events, end)
                        if chunk:  # An empty chunk would end the response.
                            yield chunk
                    else:
                        async with aclosing(self._chunks(events, end)) as chunks:
                            async for chunk in chunks:
                                yield chunk
                if self.bookmark_times is not None and loop.time() >= next_bookmark:
                    yield self._single(self.bookmark(batch.revision, False))
                    next_bookmark = self._next_bookmark(loop.time(), end)
        except (WatcherTooSlow, CacheReset, TimeIsUp):
            return
        except Compacted as compacted:
            error = errors.expired(f"too old resource version: {compacted.compact_revision}")
            yield self._single(error_frame(error, self.media))
        except errors.StatusError as error:
            yield self._single(error_frame(error, self.media))
        finally:
            watcher.close()

    async def _chunks(
        self, events: Sequence[Delivery], end: float, *, are_shared: bool = True
    ) -> AsyncGenerator[bytes, None]:
        """Yield these events in chunks, one in each turn of the event loop."""
        await self.turn_queue.begin()
        for part in slices(events, map(_size_of_delivery, events), self.framer.piece_bytes):
            chunk = await self._chunk(part, end, are_shared=are_shared)
            if chunk:
                yield chunk
            await self.turn_queue.begin()

    async def _chunk(self, events: Sequence[Delivery], end: float, *, are_shared: bool = True) -> bytes:
        """Return these events, joined. Watchers of the same events in the same form share the chunk, unless only this
        watcher has them: then nothing is kept of their encoding.
        """
        if self.converted is not None:
            events = await self.converted.present(events, end)
            if not events:
                return b""
            return self.sent.counted(self._joined(events))
        if self._first is not None:
            await self.turn_queue.begin()
        if self.framer.form != "":
            for kind, event in events:
                if len(event.record.value) >= LARGE_BYTES:
                    await in_thread(self.framer.frame, kind, event)  # it is cached
        if self.framer.form is None or not are_shared:
            chunk = self._joined(events)
        else:
            chunk = self.watcher.group.shared(self.framer.form, events, self._joined)
        if not are_shared:
            for _, event in events:
                event.frames.clear()
        return self.sent.counted(chunk)

    def _joined(self, events: Sequence[Delivery]) -> Chunk:
        frames = [self.framer.frame(kind, event) for kind, event in events]
        if self._first is not None:
            frames[0] = self._first(*events[0])
            self._first = None
        return self.sent.joined(frames)

    def _single(self, frame: bytes) -> bytes:
        return self.sent.counted(self.sent.joined([frame]))

    def _next_bookmark(self, now: float, end: float) -> float:
        if self.bookmark_times is None:
            return end
        at, last = self.bookmark_times.after(now), end - BOOKMARK_BEFORE_END_S
        return at if at < last or now >= last else last


def _size_of_delivery(delivery: Delivery) -> int:
    return len(delivery[1].record.value)


def _size(events: Sequence[Delivery]) -> int:
    return sum(map(_size_of_delivery, events))


async def watch(scope: RequestScope) -> Response:
    """Return 200 and a stream. A revision that is too old results in one ERROR event."""
    request, endpoint = scope.request, scope.endpoint
    options = list_options(request)
    selection = selection_of(endpoint, options, request.info.name)
    revision = revision_of_read(options.resource_version)
    media = _acceptable(scope)
    framed = framer(scope, media)
    if revision != endpoint.store.cache.newest.revision or options.send_initial_events:
        await scope.shared.turn_queue.begin()  # Many events may have to be selected.
    cache = endpoint.store.cache.newest
    initial = options.send_initial_events
    if not options.resource_version or initial:
        cache = await endpoint.store.fresh_cache()
    if revision and initial:
        try:
            cache = await wait_not_older(endpoint.store, revision)
        except errors.StatusError as error:
            return _error_stream(error, media)
    after = revision if revision and not initial else None
    if initial is False and not revision:
        after = cache.revision
    watcher = cache.watch(
        endpoint.store.scope_prefix(scope.ctx.namespace),
        after=after,
        matches=selection.matches,
        initial=after is None,
    )
    try:
        await watcher.__aenter__()
    except BaseException as error:
        watcher.close()
        if not isinstance(error, Compacted):
            raise
        return _expired(revision, error.compact_revision, media)
    stream = WatchServer(
        watcher=watcher,
        framer=framed,
        bookmark=bookmarker(endpoint, media),
        timeout_s=_timeout(options),
        bookmark_times=scope.shared.bookmark_times if options.allow_watch_bookmarks else None,
        has_initial=after is None,
        initial_end=bool(initial) and options.allow_watch_bookmarks,
        media=media,
        sent=scope.shared.watches.sent(request.info.group, request.info.version, request.info.resource),
        listed=partial(_count_list, scope),
        begun=request.initial_sent,
        converted=_converted(endpoint, cache.revision if after is None else 0, selection),
        turn_queue=scope.shared.turn_queue,
    )
    return Response(200, content_type=_content_type(media), stream=stream.chunks(), finished=watcher.close)


def _converted(endpoint: Endpoint, began: int, selection: SelectionPredicate) -> ConvertedEvents | None:
    webhook = endpoint.definition.webhook
    return None if webhook is None else ConvertedEvents(webhook, endpoint, began, selection)


def _count_list(scope: RequestScope) -> None:
    info = scope.request.info
    reach = "resource" if info.name else "namespace" if info.namespace else "cluster"
    seconds = asyncio.get_running_loop().time() - scope.request.wire.received
    scope.shared.watches.listed(info.group, info.version, info.resource, reach, seconds)


def _acceptable(scope: RequestScope) -> MediaType | None:
    """Return the media type for a stream that the client accepts. Raises 406."""
    media_types = scope.endpoint.dialect.media_types
    media = media_of(scope.request, media_types)
    if media is not None and media.format == "yaml":
        raise not_acceptable(tuple(f"{name};stream=watch" for name in media_types if name not in _NOT_STREAMED))
    return media


def _content_type(media: MediaType | None) -> str:
    if media is not None and media.format == "protobuf":
        return f"{media.media_type};stream=watch"
    return "application/json"


def _timeout(options: ListOptions) -> float:
    if options.timeout_s:
        return float(options.timeout_s)
    return TIMEOUT_MIN_S * (1 + random.random())


def _expired(revision: int, compacted: int, media: MediaType | None) -> Response:
    return _error_stream(errors.expired(f"too old resource version: {revision} ({compacted})"), media)


def _error_stream(error: errors.StatusError, media: MediaType | None) -> Response:
    """Return a stream with one event: the error."""

    async def chunks() -> AsyncIterator[bytes]:
        yield error_frame(error, media)

    return Response(200, content_type=_content_type(media), stream=chunks())
