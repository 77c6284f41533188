"""`WorkQueue`: a set of keys to process; each key goes to one worker at a time.

Concurrency: everything happens on one event loop. Only `get` and `shut_down_with_drain` wait; the other methods are
atomic. The queue owns no task, only one timer for the earliest delayed key. It is bounded by the number of distinct
keys: adding a queued key only merges.

A key has one of these states:

    waiting     until its delay has passed (`add_after`, `add_rate_limited`)
    due         in the lane of its priority, first in first out
    processing  returned by `get`, until `done`
    dirty       processing, and due again: `done` puts it into its lane

Guarantees: a key is never handed to two workers at once. Every `add` is followed by a `get` of the key that starts
after it. When keys merge, the highest priority and the earliest time win. A key whose priority rises goes to the end of
its new lane.

Source: client-go util/workqueue/{queue,delaying_queue}.go (1.36), controller-runtime
pkg/controller/priorityqueue/priorityqueue.go (0.24).
"""

import asyncio
from bisect import insort
from collections import OrderedDict, deque
from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

from sampan.operator.queue.causes import NO_CAUSES, Cause, Causes
from sampan.operator.queue.metrics import QueueMetrics, QueueState, WorkQueueMetrics
from sampan.operator.queue.rate_limiters import ItemExponentialFailureRateLimiter, RateLimiter

K = TypeVar("K", bound=Hashable)

LOW_PRIORITY: Final = -100
"""Priority of keys of the initial list and of resyncs: recent changes go first."""
_STALE_TIMERS_MIN: Final = 64
_EMPTY_LANES_MAX: Final = 8


class QueueShutDown(Exception):
    """The queue returns no more keys: the worker must end."""


class QueueItem(Generic[K]):
    """A key that is waiting, due or dirty; `take` returns it. Only the queue changes it."""

    __slots__ = ("causes", "due_since", "key", "priority", "ready_at")

    def __init__(self, key: K, priority: int, cause: Cause | None) -> None:
        self.key = key
        self.priority = priority
        self.causes = NO_CAUSES if cause is None else Causes((cause,))
        """Events that were merged into this key."""
        self.ready_at: float | None = None
        """Time in the loop's clock when the key becomes due; None if it is due."""
        self.due_since = 0.0
        """Time in the loop's clock when the key became due."""


class WorkQueue(Generic[K]):
    """Deduplicating, fair queue with delays, priorities and rate limits. Create it on the loop that uses it.

    A worker's loop:

        while True:
            key = await queue.get()  # raises QueueShutDown
            try:
                await work(key)
                queue.forget(key)
            except Exception:
                queue.add_rate_limited(key)
            finally:
                queue.done(key)
    """

    def __init__(
        self,
        name: str = "",
        *,
        rate_limiter: RateLimiter[K] | None = None,
        metrics: WorkQueueMetrics | None = None,
    ) -> None:
        self.name = name
        self._loop = asyncio.get_running_loop()
        self._rate_limiter: RateLimiter[K] = rate_limiter or ItemExponentialFailureRateLimiter()
        self._metrics = metrics.of(name) if metrics else QueueMetrics(name)
        self._metrics.state = self._state
        self._items: dict[K, QueueItem[K]] = {}
        self._lanes: dict[int, OrderedDict[K, QueueItem[K]]] = {}
        self._priorities: list[int] = []
        self._size = 0
        self._processing: dict[K, float] = {}
        self._delayed: list[tuple[float, int, QueueItem[K]]] = []
        self._waiting = 0
        self._sequence = 0
        self._timer: asyncio.Handle | None = None
        self._timer_at = 0.0
        self._getters: deque[asyncio.Future[None]] = deque()
        self._shutting_down = False
        self._draining: asyncio.Event | None = None

    def __len__(self) -> int:
        """Return the number of keys that are due now."""
        return self._size

    @property
    def shutting_down(self) -> bool:
        """True if the queue accepts no more keys."""
        return self._shutting_down

    @property
    def processing(self) -> frozenset[K]:
        """Keys that workers are processing."""
        return frozenset(self._processing)

    @property
    def waiting(self) -> int:
        """Number of keys with a delay."""
        return self._waiting

    def running_since(self, key: K) -> float | None:
        """Return the time in the loop's clock when a worker took the key; None if none processes it."""
        return self._processing.get(key)

    def due_at(self, key: K) -> float | None:
        """Return the time in the loop's clock when a queued key is or was due; None if it is not queued."""
        item = self._items.get(key)
        if item is None:
            return None
        return item.due_since if item.ready_at is None else item.ready_at

    def oldest_due_at(self) -> float | None:
        """Return the time in the loop's clock since when the first key of a lane is due; None if no key is due."""
        return min((next(iter(lane.values())).due_since for lane in self._lanes.values() if lane), default=None)

    # ---- adding

    def add(self, key: K, *, priority: int = 0, cause: Cause | None = None) -> None:
        """Queue a key now. If the key is being processed, `get` returns it again afterwards.

        `cause` is kept with the key, at most `CAUSES_MAX` of them.
        """
        if self._shutting_down:
            return
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = QueueItem(key, priority, cause)
            self._make_due(item)
            return
        if cause is not None:
            item.causes = item.causes.merged(cause)
        if priority > item.priority:
            self._raise_priority(item, priority)
        # A key with a delay becomes due now. One that is due or dirty stays where it is: this is the merge.
        if item.ready_at is not None:
            self._waiting -= 1
            self._make_due(item)

    def add_after(self, key: K, delay_s: float, *, priority: int = 0, cause: Cause | None = None) -> None:
        """Queue a key in `delay_s` seconds, or earlier if another call requests it. Delays ≤ 0 mean now."""
        if delay_s <= 0:
            self.add(key, priority=priority, cause=cause)
            return
        if self._shutting_down:
            return
        self._metrics.retries += 1
        ready_at = self._loop.time() + delay_s
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = QueueItem(key, priority, cause)
            self._waiting += 1
        else:
            if cause is not None:
                item.causes = item.causes.merged(cause)
            if priority > item.priority:
                self._raise_priority(item, priority)
            # Due already, or due earlier: the earliest time wins. The later request is covered by that run.
            if item.ready_at is None or item.ready_at <= ready_at:
                return
        # An older entry stays in the heap. It is stale now and is skipped, which is cheaper than removing it.
        item.ready_at = ready_at
        # The number orders entries of equal time by arrival, and keeps the heap from comparing items.
        self._sequence += 1
        heappush(self._delayed, (ready_at, self._sequence, item))
        self._drop_stale_timers()
        self._set_timer()

    def add_rate_limited(
        self, key: K, *, priority: int = 0, at_least_s: float = 0.0, cause: Cause | None = None
    ) -> float | None:
        """Queue a failed key after the delay of the rate limiter, but not before `at_least_s` seconds.

        Return the delay in seconds; None if the queue is shutting down and the key was not added.
        """
        if self._shutting_down:
            return None
        delay_s = max(self._rate_limiter.when(key), at_least_s)
        self.add_after(key, delay_s, priority=priority, cause=cause)
        return delay_s

    def forget(self, key: K) -> None:
        """Reset the rate limiter for a key after success or permanent failure. The key stays in the queue."""
        self._rate_limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """Return how often the key was added rate-limited since it was last forgotten."""
        return self._rate_limiter.num_requeues(key)

    # ---- taking

    async def get(self) -> K:
        """Wait for the next key: of the highest priority, the one that was due first.

        The worker must call `done` after it has processed the key. Raises `QueueShutDown`. Cancellation loses no key.
        """
        if self._size:
            return self._take().key
        return (await self.take()).key

    async def get_with_priority(self) -> tuple[K, int]:
        """Return the next key and its priority, which a retry should have again."""
        item = await self.take()
        return item.key, item.priority

    async def take(self) -> QueueItem[K]:
        """Return the next key with its priority and its causes. Otherwise as `get`."""
        while not self._size:
            if self._shutting_down:
                raise QueueShutDown(self.name)
            getter: asyncio.Future[None] = self._loop.create_future()
            self._getters.append(getter)
            try:
                await getter
            except BaseException:
                if getter in self._getters:
                    self._getters.remove(getter)
                elif self._size:
                    self._wake_one()  # It was woken for a key that another worker must take.
                raise
        return self._take()

    def done(self, key: K) -> None:
        """Record that the worker has finished with the key, with or without success."""
        started = self._processing.pop(key, None)
        if started is None:
            return
        self._metrics.work.observe(self._loop.time() - started)
        item = self._items.get(key)
        # The key was added while it was processed. It enters a lane only now, so two workers never have it at once.
        if item is not None and item.ready_at is None:
            self._enter_lane(item)
        elif self._draining is not None:
            self._end_drain_if_empty()

    # ---- ending

    def shut_down(self) -> None:
        """Stop accepting and returning keys, and drop the queued keys. A running drain ends, too."""
        # Set first: the getters that `_wake_all` wakes check it and must not wait again.
        self._shutting_down = True
        self._drop_waiting()
        self._items.clear()
        self._lanes.clear()
        self._priorities.clear()
        self._size = 0
        self._wake_all()
        if self._draining is not None:
            self._draining.set()

    async def shut_down_with_drain(self) -> None:
        """Accept no more keys, and wait until workers have processed all due keys.

        Keys that became dirty before the drain started are processed once more. Delayed keys are dropped.
        """
        self._shutting_down = True
        self._drop_waiting()
        if self._draining is None:
            self._draining = asyncio.Event()
        self._end_drain_if_empty()
        await self._draining.wait()

    # ---- internal parts

    def _make_due(self, item: QueueItem[K]) -> None:
        item.ready_at = None
        item.due_since = self._loop.time()
        self._metrics.adds += 1
        # A key that is being processed is only marked as dirty. `done` puts it into its lane.
        if item.key not in self._processing:
            self._enter_lane(item)

    def _enter_lane(self, item: QueueItem[K]) -> None:
        lane = self._lanes.get(item.priority)
        if lane is None:
            lane = self._lanes[item.priority] = OrderedDict()
            insort(self._priorities, item.priority)
        lane[item.key] = item
        self._size += 1
        if self._getters:
            self._wake_one()

    def _leave_lane(self, lane: OrderedDict[K, QueueItem[K]], priority: int) -> None:
        self._size -= 1
        # Some empty lanes stay, because a lane whose last key leaves usually gets another at once.
        if not lane and len(self._priorities) > _EMPTY_LANES_MAX:
            del self._lanes[priority]
            self._priorities.remove(priority)

    def _raise_priority(self, item: QueueItem[K], priority: int) -> None:
        lane = self._lanes.get(item.priority)
        if lane is not None and lane.pop(item.key, None) is not None:
            self._leave_lane(lane, item.priority)
            item.priority = priority
            self._enter_lane(item)
        else:
            item.priority = priority

    def _take(self) -> QueueItem[K]:
        priority = self._priorities[-1]
        lane = self._lanes[priority]
        if not lane:
            priority = next(priority for priority in reversed(self._priorities) if self._lanes[priority])
            lane = self._lanes[priority]
        # From the front: fair among keys of the same priority.
        key, item = lane.popitem(last=False)
        self._leave_lane(lane, priority)
        del self._items[key]
        now = self._loop.time()
        self._processing[key] = now
        self._metrics.latency.observe(now - item.due_since)
        return item

    def _wake_one(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            # A cancelled getter is done. To wake it would lose the wake-up of the key.
            if not getter.done():
                getter.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._getters:
            self._wake_one()

    def _end_drain_if_empty(self) -> None:
        if self._draining is not None and not self._processing and not self._size:
            self._wake_all()
            self._draining.set()

    def _set_timer(self) -> None:
        while self._delayed and self._is_stale(self._delayed[0]):
            heappop(self._delayed)
        if not self._delayed:
            return
        ready_at = self._delayed[0][0]
        if self._timer is not None:
            if self._timer_at <= ready_at:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(ready_at, self._promote)
        self._timer_at = ready_at

    def _promote(self) -> None:
        """Move all keys whose delay has passed to their lanes."""
        # Event loops call timers up to one tick of their clock early.
        due_at = max(self._loop.time(), self._timer_at)
        self._timer = None
        while self._delayed and self._delayed[0][0] <= due_at:
            entry = heappop(self._delayed)
            if not self._is_stale(entry):
                self._waiting -= 1
                self._make_due(entry[2])
        self._set_timer()

    def _is_stale(self, entry: tuple[float, int, QueueItem[K]]) -> bool:
        """Return True if the key has become due in another way, or got an earlier time."""
        return entry[2].ready_at != entry[0]

    def _drop_stale_timers(self) -> None:
        """Limit the size of the heap: a key whose delay is replaced again and again leaves an old timer each time."""
        if len(self._delayed) > 2 * self._waiting + _STALE_TIMERS_MIN:
            self._delayed = [entry for entry in self._delayed if not self._is_stale(entry)]
            heapify(self._delayed)

    def _drop_waiting(self) -> None:
        for _, _, item in self._delayed:
            if item.ready_at is not None:
                self._items.pop(item.key, None)
        self._delayed.clear()
        self._waiting = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _state(self) -> QueueState:
        now = self._loop.time()
        due = [item.priority for item in self._items.values() if item.ready_at is None]
        return QueueState(due, [now - started for started in self._processing.values()])
