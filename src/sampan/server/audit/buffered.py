"""`BufferedBackend`: queues events and records them in batches, so that requests do not wait.

Concurrency: `process` adds events to a queue of at most `buffer_size`; when it is full, events are dropped and counted.
The task of `run()` takes at most `throttle_qps` batches a second from the queue. It sends up to `SENDING_MAX` of them
concurrently, or one if not `concurrent`. After cancellation it records the remaining events for at most `FLUSH_S`
seconds. No new events may be added then.
Source: apiserver plugin/pkg/audit/buffered/buffered.go (1.36).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sampan.core.clock import monotonic
from sampan.core.settings import setting
from sampan.core.settings.kinds import integer
from sampan.server.audit.backend import Backend
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics

SENDING_MAX = 32
FLUSH_S = 10.0
_EVENTS = integer(metavar="EVENTS")


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Size, delay and rate of the batches in which audit events are written."""

    buffer_size: int = setting(10_000, "Events that may wait for a batch; further ones are dropped.", kind=_EVENTS)
    max_batch_size: int = setting(400, "Largest size of a batch, in events.", name="max-size", kind=_EVENTS)
    max_batch_wait_s: float = setting(30.0, "Longest time that a batch waits to be full.", name="max-wait")
    throttle_enable: bool = setting(True, "Limit the rate of batches.")
    throttle_qps: float = setting(10.0, "Average rate, in batches a second.")
    throttle_burst: int = setting(
        15, "Batches that may be sent at once after a pause.", kind=integer(metavar="BATCHES")
    )
    concurrent: bool = True
    """True if several batches may be sent at the same time."""


class BufferedBackend:
    """Queues events for its delegate."""

    def __init__(
        self,
        delegate: Backend,
        settings: BatchSettings,
        metrics: AuditMetrics,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._delegate, self._settings, self._metrics, self._clock = delegate, settings, metrics, clock
        self.name = f"buffered<{delegate.name}>"
        self._queue: deque[AuditEvent] = deque()
        self._not_empty, self._full = asyncio.Event(), asyncio.Event()
        self._sending = asyncio.Semaphore(SENDING_MAX if settings.concurrent else 1)
        self._under_way: dict[asyncio.Task[None], list[AuditEvent]] = {}
        self._tokens, self._filled_at = float(settings.throttle_burst), clock()

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events. Never waits."""
        room = self._settings.buffer_size - len(self._queue)
        self._queue.extend(events[:room] if room < len(events) else events)
        if room < len(events):
            self._metrics.failed("buffered", "audit buffer queue blocked", events[max(room, 0) :])
        self._not_empty.set()
        if len(self._queue) >= self._settings.max_batch_size:
            self._full.set()
        return True

    async def run(self) -> None:
        """Run background work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._delegate.run(), name=f"audit {self._delegate.name}")
            try:
                await self._forever(group)
            finally:
                await self._flush()

    async def _forever(self, group: asyncio.TaskGroup) -> None:
        while True:
            await self._wait_for_batch()
            await self._throttle()
            await self._sending.acquire()
            batch = self._batch()
            task = group.create_task(self._send(batch), name="audit batch")
            self._under_way[task] = batch
            task.add_done_callback(self._under_way.pop)

    async def _wait_for_batch(self) -> None:
        """Wait until a batch is full or its maximum waiting time has passed."""
        await self._not_empty.wait()
        if self._settings.max_batch_wait_s and not self._full.is_set():
            try:
                async with asyncio.timeout(self._settings.max_batch_wait_s):
                    await self._full.wait()
            except TimeoutError:
                pass

    def _batch(self) -> list[AuditEvent]:
        queue, size = self._queue, self._settings.max_batch_size
        batch = [queue.popleft() for _ in range(min(size, len(queue)))]
        if not queue:
            self._not_empty.clear()
        if len(queue) < size:
            self._full.clear()
        return batch

    async def _throttle(self) -> None:
        """Wait for a token of the rate limiter."""
        settings = self._settings
        if not settings.throttle_enable:
            return
        now = self._clock()
        self._tokens = min(settings.throttle_burst, self._tokens + (now - self._filled_at) * settings.throttle_qps)
        self._filled_at = now
        self._tokens -= 1
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / settings.throttle_qps)

    async def _send(self, batch: list[AuditEvent]) -> None:
        try:
            await self._delegate.process(batch)
        finally:
            self._sending.release()

    async def _flush(self) -> None:
        """Record the remaining events and wait for batches in progress. Count the rest as lost after the timeout."""
        batch: list[AuditEvent] = []
        try:
            async with asyncio.timeout(FLUSH_S):
                while self._queue:
                    batch = self._batch()
                    await self._delegate.process(batch)
                batch = []
                if self._under_way:
                    await asyncio.wait(list(self._under_way))
        except TimeoutError:
            late = [event for events in self._under_way.values() for event in events]
            self._metrics.failed("buffered", "audit backend shut down", [*late, *batch, *self._queue])
            self._queue.clear()
