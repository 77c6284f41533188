"""`Reflector`: keeps a store equal to the objects of a `ListWatch`.

It lists (as a stream if the server supports it) and watches from the version of the list. It resumes watches where they
ended, and lists again only if necessary.

Concurrency: `run()` is one task. It waits after each batch until the store accepts more, so a slow store slows the
connection. After a failure it waits before the next request: 0.8 s, doubled up to 30 s, with jitter. The delays start
again when a watch was accepted and lasted for a second, or after two minutes without a failure. A watch that the server
ends after a second or more, as servers do every few minutes, is resumed without a delay.
Source: client-go tools/cache/reflector.go (1.36).
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from sampan.client.errors import (
    ApiError,
    BadRequest,
    ClientError,
    Invalid,
    ServerError,
    TooManyRequests,
    TransportError,
)
from sampan.client.options import ListOptions
from sampan.client.retries.delay import RetryDelay
from sampan.client.watching.event_stream import EventStream
from sampan.client.watching.idle_limit import IdleLimit
from sampan.client.watching.list_watch import ListWatch, RawEvent
from sampan.client.watching.raw_events import watch_error
from sampan.informer.metrics import InformerMetrics
from sampan.informer.queues.delta import ReflectorStore
from sampan.informer.ref import Ref, RefReader
from sampan.informer.reflector.events import EventReader
from sampan.informer.reflector.paged_list import PagedList
from sampan.informer.reflector.position import Position, is_unavailable
from sampan.informer.reflector.streamed_list import StreamedList, StreamStalled
from sampan.informer.reflector.watch_failure import WatchErrorHandler, WatchFailure, log_watch_error
from sampan.informer.reflector.watch_retry import WatchRetry
from sampan.informer.settings import ReflectorSettings
from sampan.informer.transform import TransformError
from sampan.informer.version import older

T = TypeVar("T")

_log = logging.getLogger("sampan.informer")

STREAM_FAILURES_MAX: Final = 3
"""Limit of consecutive broken streaming lists. After that, only plain lists are requested."""


class Reflector(Generic[T]):
    """Lists and watches until cancelled. `on_error` may be set before it runs."""

    def __init__(
        self,
        list_watch: ListWatch,
        store: ReflectorStore[T],
        reader: RefReader[T],
        *,
        settings: ReflectorSettings | None = None,
        metrics: InformerMetrics | None = None,
    ) -> None:
        self.on_error: WatchErrorHandler = log_watch_error
        self.last_failure: WatchFailure | None = None
        """Last failure of a list or watch."""
        self.metrics = metrics or InformerMetrics()
        self._list_watch = list_watch
        self._store = store
        self._settings = settings or ReflectorSettings()
        self._reader = EventReader(reader, self.metrics)
        self._paged_list = PagedList(list_watch, self._reader, self.metrics, page_size=self._settings.page_size)
        self._retry_delay = RetryDelay(self._settings.backoff, self._settings.backoff_reset_s, self._settings.rand)
        self._idle = IdleLimit(self._settings.idle_timeout_s, self._settings.idle_timeout_without_bookmarks_s)
        self._position = Position(newest=self._settings.newest)
        self._streaming = self._settings.streaming
        self._stream_failures = 0
        self._ordered = True

    @property
    def last_resource_version(self) -> str:
        """Version up to which the store has received lists and watches; empty before the first list."""
        return self._position.resource_version

    @property
    def streaming(self) -> bool:
        """True while streaming lists are requested."""
        return self._streaming

    async def run(self) -> None:
        """List and watch until cancelled. Failures are reported to `on_error` and retried without end."""
        while True:
            try:
                await self._list_and_watch()
            except (ClientError, TransformError) as error:
                await self._retry(error, "listing again")

    async def _retry(self, error: Exception, next_step: str) -> None:
        """Report a failure, and wait for the delay of the backoff or of the server, whichever is longer."""
        delay_s = self._next_delay_s(error.retry_after_s if isinstance(error, ApiError) else 0.0)
        self._report(error, next_step, delay_s)
        await asyncio.sleep(delay_s)

    def _report(self, error: Exception, next_step: str, delay_s: float) -> None:
        failure = self.last_failure = WatchFailure(str(self._list_watch), error, next_step, delay_s)
        try:
            self.on_error(failure)
        except Exception:
            _log.exception("on_error raised an exception; the watch is retried: resource=%s", self._list_watch)

    def _next_delay_s(self, at_least_s: float = 0.0) -> float:
        self.metrics.backoffs += 1
        delay_s = self._retry_delay.next_delay_s(at_least_s)
        return max(self._settings.backoff.cap_s, at_least_s) if delay_s is None else delay_s

    async def _list_and_watch(self) -> None:
        """List, then watch. Never returns; raises if a list is needed."""
        stream = await self._stream() if self._streaming else None
        if stream is None:
            await self._list()
            # A list that succeeds after a broken stream shows that streams, not the server, are the problem.
            self._stream_failures += 1
            self._streaming = self._streaming and self._stream_failures < STREAM_FAILURES_MAX
        else:
            # The limit is for consecutive failures: a server that restarts now and then keeps its streams.
            self._stream_failures = 0
        await self._watch(stream)

    # The first state: a list, or a stream.

    async def _list(self) -> None:
        try:
            refs, version = await self._read_list()
        except (ClientError, TransformError):
            self.metrics.list_failures += 1
            raise
        self._store.replace(refs, version)
        self._position.listed(version)
        await self._store.room()

    async def _read_list(self) -> tuple[list[Ref[T]], str]:
        desired = self._position.for_list()
        try:
            return await self._paged_list.read(desired)
        except ApiError as error:
            # A server that has compacted the version, or whose cache is behind it, can still list its newest state.
            if not desired or not is_unavailable(error):
                raise
        self._position.unavailable = True
        return await self._paged_list.read(self._position.for_list())

    async def _stream(self) -> EventStream | None:
        """Return a watch whose initial state is in the store; None if a list must be requested instead.

        A stream that is refused or stalls is certainly not supported, and is not requested again. A stream that breaks
        off is requested again, up to `STREAM_FAILURES_MAX` times.
        """
        while True:
            try:
                return await self._read_stream()
            # An overloaded server would be hurt more by a plain list than by another attempt to stream.
            except TooManyRequests as error:
                await self._retry(error, "requesting a streaming list again")
            except (BadRequest, Invalid, StreamStalled) as error:
                _log.info("streaming lists of %s are not supported: %s; listing instead", self._list_watch, error)
                self._streaming = False
                break
            except (ClientError, TransformError) as error:
                # The second attempt requests no version, so this `continue` happens at most once for a failure.
                if is_unavailable(error) and self._position.for_stream():
                    self._position.unavailable = True
                    continue
                self._report(error, "listing without a stream", 0.0)
                break
        self.metrics.stream_fallbacks += 1
        return None

    async def _read_stream(self) -> EventStream:
        self.metrics.streams += 1
        stream = self._begin(
            ListOptions(
                resource_version=self._position.for_stream() or None,
                resource_version_match="NotOlderThan",
                timeout_seconds=self._timeout_seconds(),
                allow_watch_bookmarks=True,
                send_initial_events=True,
            )
        )
        try:
            refs, version = await StreamedList(self._reader, self._settings).read(stream)
        except BaseException:
            self.metrics.watch_failures += 1
            # `BaseException`: a cancelled list must also close its connection, or the server keeps sending to it.
            await stream.aclose()
            raise
        self._store.replace(refs, version)
        self._position.listed(version)
        # The initial events of a streamed list have no order, but everything after its final bookmark has.
        self._ordered = True
        return stream

    # Watches.

    async def _watch(self, stream: EventStream | None) -> None:
        """Watch repeatedly, each time from the end of the last watch. Raises if a list is needed."""
        loop = asyncio.get_running_loop()
        watch_retry = WatchRetry(self._settings)
        while True:
            # The lifetime of each watch counts: one that ends in less than a second would otherwise become a busy loop.
            began = loop.time()
            try:
                brought = await self._follow(stream or self._begin_watch(), accepted=stream is not None)
            except (TransportError, TooManyRequests, ServerError) as error:
                if not watch_retry.may_resume_after(error, loop.time()):
                    raise
                await self._retry(error, f"resuming the watch from resourceVersion {self._position.resource_version}")
            else:
                if watch_retry.was_short(loop.time() - began, brought):
                    self.metrics.short_watches += 1
                    await asyncio.sleep(self._next_delay_s())
            # Only the first watch continues the streamed list. Later ones are new requests.
            stream = None

    def _begin_watch(self) -> EventStream:
        self.metrics.watches += 1
        version = self._position.resource_version
        # A watch without a version starts with the current objects, in no order of versions.
        self._ordered = version not in ("", "0")
        return self._begin(
            ListOptions(
                resource_version=version or None,
                timeout_seconds=self._timeout_seconds(),
                allow_watch_bookmarks=self._settings.bookmarks,
            )
        )

    async def _follow(self, stream: EventStream, *, accepted: bool) -> int:
        """Put the events of one watch into the store and return how many there were.

        Raises the error that ended the watch.

        `accepted`: the server has accepted the watch already.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        brought = 0
        try:
            while True:
                batch = await stream.next(loop.time() + self._idle.seconds)
                if batch is None:
                    return brought
                accepted = True
                brought += len(batch)
                self._idle.observe(batch)
                self._take_in(batch)
                await self._store.room()
        except TimeoutError:
            self.metrics.idle_watches += 1
            _log.info("watch of %s was silent for %g s; replacing it", self._list_watch, self._idle.seconds)
            self._idle.expired()
            return brought
        except (ClientError, TransformError) as error:
            self.metrics.watch_failures += 1
            # A broken connection can end a healthy watch. An error of the server means that the watch itself is wrong.
            accepted = accepted and isinstance(error, TransportError)
            raise
        finally:
            # A watch that breaks at once, or ends with an error of the server, is not a success: a list may follow, and
            # lists are expensive.
            if accepted and loop.time() - began >= self._settings.short_watch_s:
                self._retry_delay.succeeded()
            await stream.aclose()

    def _take_in(self, batch: Sequence[RawEvent]) -> None:
        version = ""
        try:
            for event in batch:
                version = self._take_in_one(event) or version
        finally:
            # Also after an error in the middle of a batch: the events before it are in the store and must not be sent
            # again.
            self._position.advance(version)

    def _take_in_one(self, event: RawEvent) -> str:
        """Put one event into the store. Return the version that is reached with it; "" if unknown."""
        kind = event.type
        if kind == "ERROR":
            raise watch_error(event)
        if kind == "BOOKMARK":
            self._ordered = True
            bookmark = self._reader.bookmark(event)
            # A proxy may switch to a server whose cache is behind. Going back would deliver old events a second time.
            if bookmark is None or older(bookmark.resource_version, self._position.resource_version):
                return ""
            self._store.bookmark(bookmark.resource_version)
            return bookmark.resource_version
        ref = self._reader.object(bytes(event.object))
        if ref is None:
            return ""
        self.metrics.events += 1
        if kind == "ADDED":
            self._store.add(ref, ordered=self._ordered)
            # In an unordered initial state, an object can be newer than a later one, so its version is not reached yet.
            return ref.resource_version if self._ordered else ""
        if kind == "MODIFIED":
            self._store.update(ref)
        elif kind == "DELETED":
            self._store.delete(ref)
        else:
            self._reader.unknown(event)
            return ""
        self._ordered = True
        return ref.resource_version

    def _begin(self, options: ListOptions) -> EventStream:
        return EventStream(self._list_watch.watch(options))

    def _timeout_seconds(self) -> int:
        shortest, longest = self._settings.watch_s_min, self._settings.watch_s_max
        # Random, so that the watches of many informers do not end and restart in the same second.
        return int(shortest + self._settings.rand() * (longest - shortest))
