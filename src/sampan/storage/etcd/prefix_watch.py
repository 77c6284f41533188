"""`PrefixWatch`: one etcd watch of the whole prefix, which feeds the broadcaster and so all watches of this server.

Events of this server's own writes are dispatched from etcd's responses as soon as they are next in order
(`response_events.py`). The watch delivers all other events. Events that it repeats are dropped.

Concurrency: `run` is one task of the store. It reads the stream and passes each response to the broadcaster at once.
The broadcaster's watches have bounded buffers and read older events from etcd when these overflow. A second task
requests progress while a reader waits for a revision that no event brings. When the stream breaks, it is opened again
at the next endpoint from the revision after the last dispatched one: no gap, no duplicate.
"""

import asyncio
import logging
from bisect import insort
from operator import itemgetter

from grpc.aio import AioRpcError

from sampan.core.event_loop.task_scope import TaskScope
from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.etcd.connection.availability import PROBE_PAUSE_S
from sampan.storage.etcd.connection.client import BACKOFF_S, EtcdClient
from sampan.storage.etcd.connection.faults import text_of
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchEndedByEtcd, WatchStream
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.progress import ProgressRequester
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.response_events import ResponseEvents
from sampan.storage.store import Compacted, FutureRevision, StoreEvent, StoreUnavailable

_log = logging.getLogger(__name__)

_SILENCE_MAX_S = 2.0
"""Longest silence of a watch after a progress request."""
_SUSPENDED_S = 30.0
"""Pause without a response after which the process or the machine may have been suspended."""


class PrefixWatch:
    """Feeds the broadcaster with all events below the prefix of this cluster, in order of revision."""

    def __init__(self, client: EtcdClient, broadcaster: WatchBroadcaster, keys: PrefixedKeys, reads: Reads) -> None:
        self._client = client
        self._broadcaster = broadcaster
        self._keys = keys
        self._reads = reads
        self._progress = ProgressRequester(client, keys)
        self._responses = ResponseEvents()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        """Revisions in ascending order, and what waits for them."""
        self._has_waiters = asyncio.Event()
        self.established = asyncio.Event()
        """Event that is set while this task reads a watch that etcd has confirmed."""
        broadcaster.fail(None)
        client.restores.listeners.append(broadcaster.fail)

    async def run(self) -> None:
        """Follow etcd until cancelled, or until etcd was restored or replaced. Starts after `broadcaster.revision`."""
        pause_s = BACKOFF_S[0]
        while True:
            before = self._broadcaster.revision
            try:
                await self._follow()
            except (Compacted, CompactedInEtcd) as error:
                if await self._skip_compacted(error):
                    continue
            except (AioRpcError, WatchEndedByEtcd, TimeoutError, StoreUnavailable, FutureRevision) as error:
                self._log_break(error)
            finally:
                self.established.clear()
            if self._client.restores.fault:
                return  # the broadcaster reports it to all watches
            pause_s = BACKOFF_S[0] if self._broadcaster.revision > before else min(pause_s * 2, BACKOFF_S[1])
            await asyncio.sleep(pause_s)

    async def reach(self, revision: int, timeout_s: float) -> bool:
        """Wait until the broadcaster has every event up to a revision that etcd has; return False after `timeout_s`."""
        if self._broadcaster.revision >= revision:
            return True
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        insort(self._waiters, (revision, future), key=itemgetter(0))
        self._has_waiters.set()
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError:
            return False
        return True

    def on_write(self, event: StoreEvent) -> None:
        """Dispatch the event of this server's write and the events after it, unless an earlier event is missing."""
        after = self._broadcaster.revision
        if event.revision <= after:
            return
        self._responses.add(event)
        if events := self._responses.take(after):
            self._dispatch(events, events[-1].revision)

    async def _follow(self) -> None:
        await self._check_history()
        endpoint, keys = await self._progress.choose_endpoint(), self._keys
        async with self._client.watch(keys.barrier, keys.end, self._broadcaster.revision + 1, at=endpoint) as stream:
            await self._check_history()  # again: etcd may have been restored meanwhile
            self.established.set()
            async with TaskScope() as tasks:
                parts = [tasks.begin(part) for part in (self._read(stream), self._request_progress(stream))]
                ended, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()

    async def _read(self, stream: WatchStream) -> None:
        now = asyncio.get_running_loop().time
        while True:
            started = now()
            response = await stream.next()
            if now() - started > _SUSPENDED_S:
                await self._check_history()
            reached = self._progress.revision_of(response)
            if reached > self._broadcaster.revision:
                self._responses.forget(reached)
                following = self._responses.take(reached)
                events = self._keys.events(response.events, self._broadcaster.revision) + following
                self._dispatch(events, following[-1].revision if following else reached)

    def _dispatch(self, events: list[StoreEvent], reached: int) -> None:
        self._client.restores.observe_revision(reached)
        self._broadcaster.dispatch(events, reached)
        self._settle_waiters()

    async def _check_history(self) -> None:
        """Check that etcd still has the events after the last dispatched revision.

        A watch whose buffer is full at that moment may continue with newer events although etcd has compacted its
        start (etcd 3.5.1).
        """
        await self._reads.check(self._broadcaster.revision)

    def _settle_waiters(self) -> None:
        waiters, reached = self._waiters, self._broadcaster.revision
        while waiters and waiters[0][0] <= reached:
            _, future = waiters.pop(0)
            if not future.done():
                future.set_result(None)

    async def _request_progress(self, stream: WatchStream) -> None:
        """Request progress while a reader waits. Raises `WatchEndedByEtcd` when the stream stays silent."""
        silent_s = 0.0
        while silent_s < _SILENCE_MAX_S:
            if not self._waiting():
                self._has_waiters.clear()
                await self._has_waiters.wait()
            before, pause_s = self._broadcaster.revision, self._progress.wait_s
            await asyncio.sleep(pause_s)
            if self._broadcaster.revision > before or not self._waiting():
                silent_s = 0.0
            else:
                silent_s += pause_s
                await self._progress.request(stream)
        raise WatchEndedByEtcd(f"no event and no progress for {_SILENCE_MAX_S:g} s, though etcd has a newer revision")

    def _waiting(self) -> bool:
        waiters = self._waiters
        while waiters and waiters[0][1].done():
            waiters.pop(0)
        return bool(waiters)

    async def _skip_compacted(self, error: Exception) -> bool:
        """Continue after the compacted events. Each watch detects its own loss."""
        _log.warning(
            "cannot read events after revision %d, compacted by etcd: %s; watches restart",
            self._broadcaster.revision,
            error,
        )
        try:
            await asyncio.sleep(2 * PROBE_PAUSE_S)  # the request for etcd's version may have been the probe
            newest = await self._reads.revision()
        except StoreUnavailable as failure:
            self._log_break(failure)
            return False
        self._responses.forget(newest)
        self._broadcaster.skip(newest)
        self._settle_waiters()
        return True

    def _log_break(self, error: Exception) -> None:
        # While etcd is away the watch breaks twice a second, and the client has logged the cause.
        logged = self._client.availability.circuit_open or self._client.restores.fault
        level = logging.DEBUG if logged else logging.WARNING
        _log.log(level, "the watch of etcd broke, retrying at the next endpoint: %s", text_of(error))
