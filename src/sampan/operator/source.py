"""Sources of a controller's requests: informers, other programs, the clock.

Concurrency: a controller runs each source as one task and cancels it at the end. Only a `ChannelSource` owns another
task, for its failed events. The
handler of an informer exists as long as the source runs.

Source: controller-runtime pkg/source/source.go (0.24).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import count
from typing import Final, Generic, Protocol, TypeVar

from sampan.core.user_code import timed
from sampan.informer.handler import EventHandler
from sampan.operator.failures.failed_events import FailedEvents
from sampan.operator.handlers import EnqueueHandler, MapFunction, Priority, name_of
from sampan.operator.predicates import Predicate
from sampan.operator.queue import LOW_PRIORITY, Cause, CauseOrigin, WorkQueue
from sampan.operator.request import Request
from sampan.resource import ObjectType

T = TypeVar("T")
E = TypeVar("E")
_RECHECK: Final = Cause("recheck")


class Source(Protocol):
    """Puts requests into a controller's queue."""

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Run until cancelled. Set `synced` when all initial requests are in the queue."""
        ...


class HandlerRegistration(Protocol):
    """Handle of a registered handler."""

    async def synced(self) -> None:
        """Wait until the handler has processed all objects that existed when it was added."""
        ...

    def remove(self) -> None:
        """Stop notifying the handler."""
        ...


class HandlerHost(Protocol[T]):
    """Part of a shared informer that a source uses."""

    @property
    def object_type(self) -> ObjectType[T]:
        """Resource of the objects that handlers get, with the functions that decode and encode them."""
        ...

    def add_handler(self, handler: EventHandler[T]) -> HandlerRegistration:
        """Register a handler for all current objects and all changes."""
        ...


class KindSource(Generic[T]):
    """Source for the objects of one kind, from a shared informer."""

    def __init__(
        self,
        informer: HandlerHost[T],
        map_function: MapFunction[T],
        predicates: Iterable[Predicate[T]] = (),
        *,
        debounce_s: float = 0.0,
        priority: Priority[T] = 0,
        pausable: bool = False,
    ) -> None:
        """`pausable`: users can resume objects, or request their reconciles; see `pausing.py`."""
        self._priority = priority
        self._pausable = pausable
        self._informer = informer
        self._map = map_function
        self._predicates = tuple(predicates)
        self._debounce_s = debounce_s

    def __str__(self) -> str:
        return f"kind source: {self._informer.object_type.info.gvr.group_resource}"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Run until cancelled. Set `synced` when the informer has synced and all its objects are in the queue."""
        handler = EnqueueHandler(
            queue,
            self._map,
            self._predicates,
            debounce_s=self._debounce_s,
            source=str(self),
            priority=self._priority,
            resource=str(self._informer.object_type.info.gvr.group_resource),
            pausable=self._pausable,
        )
        registration = self._informer.add_handler(handler)
        try:
            await registration.synced()
            synced.set()
            await handler.failed.run()
        finally:
            registration.remove()


class ChannelSource(Generic[E]):
    """Events from outside the cluster (a webhook of another system, a message queue), mapped to requests.

    At most `size_max` events are queued. Then `put` waits and `put_nowait` raises `asyncio.QueueFull`. Events from
    before the start of the controller are kept. An event whose map function raises is tried again with backoff.
    """

    def __init__(self, map_function: Callable[[E], Iterable[Request]], *, size_max: int = 1024) -> None:
        self._map = map_function
        self._cause = Cause("channel", CauseOrigin("", name_of(map_function)))
        self._events: asyncio.Queue[E] = asyncio.Queue(size_max)

    def __str__(self) -> str:
        return "channel source"

    async def put(self, event: E) -> None:
        """Queue an event. Waits while the queue is full."""
        await self._events.put(event)

    def put_nowait(self, event: E) -> None:
        """Queue an event. From another thread: `loop.call_soon_threadsafe(source.put_nowait, event)`."""
        self._events.put_nowait(event)

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Run until cancelled. Set `synced` immediately, because the number of events is unknown."""
        synced.set()
        failed: FailedEvents[int] = FailedEvents(queue.name, str(self))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(failed.run())
            for number in count():
                event = await self._events.get()
                failed.attempt(number, partial(self._enqueue, queue, event))
                await failed.below(self._events.maxsize)

    def _enqueue(self, queue: WorkQueue[Request], event: E) -> None:
        with timed(f"handler for {queue.name} ({self})"):
            requests = list(self._map(event))
        for request in requests:
            queue.add(request, cause=self._cause)


class PeriodicSource:
    """Requests all objects periodically, with low priority, to find changes outside the cluster."""

    def __init__(
        self,
        requests: Callable[[], Iterable[Request]],
        period_s: float,
        *,
        jitter: float = 0.1,
        available: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`requests` returns the requests, for example from a lister. Each period varies by the fraction `jitter`.

        `available` waits until there are objects. The source is idle until then.
        """
        self._available = available
        self._requests = requests
        self._period_s = period_s
        self._jitter = jitter

    def __str__(self) -> str:
        return f"periodic source: every {self._period_s:g} s"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Run until cancelled. Set `synced` immediately; the first requests follow after one period."""
        synced.set()
        while True:
            if self._available is not None:
                await self._available()
            await asyncio.sleep(self._period_s * (1.0 + self._jitter * random.uniform(-1.0, 1.0)))
            for request in self._requests():
                queue.add(request, priority=LOW_PRIORITY, cause=_RECHECK)
