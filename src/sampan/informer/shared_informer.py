"""`SharedInformer`: a local copy of a collection of objects that follows the server, with handlers for changes.

Concurrency: `run()` owns all tasks. The reflector's task puts deltas into the queue. One task takes them out, changes
the store, and queues notifications for the handlers. Each handler has a task. One task starts resyncs. The store and
the notification queues change together: no other task runs in between.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final, Generic, TypeVar

from sampan.client.watching.list_watch import ListWatch
from sampan.informer.applier import Applier
from sampan.informer.handler import EventHandler
from sampan.informer.metrics import InformerMetrics
from sampan.informer.queues.delta import Batch, Delta, DeltaType, Queue
from sampan.informer.queues.delta_fifo import DeltaFIFO
from sampan.informer.queues.in_order_queue import InOrderQueue
from sampan.informer.ref import RefReader
from sampan.informer.reflector.reflector import Reflector
from sampan.informer.reflector.watch_failure import WatchErrorHandler, WatchFailure
from sampan.informer.registration import Registration
from sampan.informer.settings import InformerSettings
from sampan.informer.store.index import IndexFunction
from sampan.informer.store.indexer import Indexer
from sampan.informer.store.lister import Lister
from sampan.informer.transform import Transform
from sampan.resource.object_type import ObjectType

T = TypeVar("T")

RESYNC_S_MIN: Final = 1.0
"""Minimum time between resyncs."""


class InformerStopped(RuntimeError):
    """The informer has stopped and cannot be used again."""


class SharedInformer(Generic[T]):
    """Local copy of all objects of a `ListWatch`, with notifications for any number of handlers.

    Guarantees:
    - The states of an object in the store are a subsequence of its states on the server, in the same order. The store
      eventually has the last state, unless the informer is stopped or cannot reach the server. There is no order
      between different objects.
    - Each handler gets each change after the store has it, one at a time, in order. A handler that is added later first
      gets all objects in the store as added.
    - A deletion has the last state of the object (with the resourceVersion of the deletion), or a tombstone with the
      last known state.
    - Objects are identified by key. If an object was deleted and created again while the watch was interrupted,
      handlers get one update with two uids.
    - A state with an unchanged resourceVersion is not a change. Only a resync delivers it again, to handlers with a
      resync period. A resync is local and sends no requests.
    - Repeated and late events change nothing.

    Source: client-go tools/cache/shared_informer.go (1.36). Differences: a re-list without changes notifies no handler,
    and neither does the deletion of an object that was not in the store.
    """

    def __init__(
        self,
        list_watch: ListWatch,
        object_type: ObjectType[T],
        *,
        resync_s: float = 0.0,
        transform: Transform | None = None,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        settings: InformerSettings | None = None,
    ) -> None:
        """`resync_s` is the default period of handlers. `transform` is applied to the bytes of each object first."""
        self._settings = settings or InformerSettings()
        self._resync_s = resync_s
        self.object_type = object_type
        self.metrics = InformerMetrics()
        self.indexer: Indexer[T] = Indexer(indexers, name=str(object_type.info.gvr.group_resource))
        """The store, for reading only."""
        self._queue: Queue[T] = DeltaFIFO(self.indexer) if self._settings.compress_deltas else InOrderQueue()
        self._registrations: dict[Registration[T], None] = {}
        self._applier = Applier(self.indexer, self._registrations, self.metrics)
        reader = RefReader(object_type, transform=transform, keep_managed_fields=self._settings.keep_managed_fields)
        self._reflector = Reflector(
            list_watch, self._queue, reader, settings=self._settings.reflector, metrics=self.metrics
        )
        self._synced = False
        self._settled = asyncio.Event()
        """Set when the informer has synced or stopped."""
        self._resyncs_changed = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._following = asyncio.timeout(None)
        """Scope of the reflector; `end` ends it."""
        self._ended = asyncio.Event()
        self._stopped = False

    def __str__(self) -> str:
        return f"informer of {self.object_type.info.gvr.group_resource}"

    # Reading.

    def lister(self) -> Lister[T]:
        """Return a lister that reads the store."""
        return Lister(self.indexer)

    def has_synced(self) -> bool:
        """Return True if the store contains the whole first list.

        Handlers may not have processed it yet; `Registration.has_synced` reports that.
        """
        return self._synced

    async def synced(self) -> None:
        """Wait until the store contains the first list. Raises `InformerStopped` if the informer stops before."""
        await self._settled.wait()
        if not self.has_synced():
            raise InformerStopped(f"the {self} stopped before it had synced")

    @property
    def last_resource_version(self) -> str:
        """Version that the store has certainly reached; empty before the first list."""
        return self.indexer.resource_version

    async def at_least(self, resource_version: str, *, timeout_s: float | None = None) -> None:
        """Wait until the store has reached a version, for example that of the response to a write.

        A write outside the informer's namespace or selectors is reached with the next event or bookmark, which may take
        a minute. Raises `TimeoutError`, and `InformerStopped` if the informer stops before.
        """
        await self.indexer.at_least(resource_version, timeout_s=timeout_s)

    @property
    def size_bytes(self) -> int:
        """Size of the objects in the store, in bytes of JSON. Each object takes about 1 kB of memory in addition."""
        return sum(len(ref.raw) for ref in self.indexer.refs())

    @property
    def pending(self) -> int:
        """Number of queued deltas."""
        return len(self._queue)

    @property
    def last_failure(self) -> WatchFailure | None:
        """Last failure of a list or watch; it may have been followed by a success."""
        return self._reflector.last_failure

    @property
    def stopped(self) -> bool:
        """True if `run` has ended."""
        return self._stopped

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        """Add an index, at any time. Read it with `lister().by_index(name, value)`.

        Raises `ValueError` if the name is in use.
        """
        self.indexer.add_indexer(name, function)

    # Handlers.

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> Registration[T]:
        """Register a handler, at any time. It first gets all objects in the store.

        `resync_s` is its resync period, at least `RESYNC_S_MIN`; 0 for none, None for the default of the informer.
        Raises `InformerStopped`.
        """
        if self._stopped:
            raise InformerStopped("a handler was not added: the informer has stopped")
        period = self._resync_s if resync_s is None else resync_s
        period = max(period, RESYNC_S_MIN) if period > 0 else 0.0
        registration = Registration(handler, resync_s=period, on_remove=self._forget)
        for ref in self.indexer.refs():
            registration.notify_added(ref, True)
        if self.has_synced():
            registration.notify_synced()
        self._registrations[registration] = None
        if self._tasks is not None:
            self._start(self._tasks, registration)
        return registration

    @property
    def registrations(self) -> list[Registration[T]]:
        """Registered handlers."""
        return list(self._registrations)

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        """Call a handler for each failure of a list or watch, instead of logging it.

        Raises `RuntimeError` if the informer is running or stopped.
        """
        if self._tasks is not None or self._stopped:
            raise RuntimeError("the informer has already started")
        self._reflector.on_error = handler

    def _forget(self, registration: Registration[T]) -> None:
        self._registrations.pop(registration, None)
        self._resyncs_changed.set()

    def _start(self, tasks: asyncio.TaskGroup, registration: Registration[T]) -> None:
        registration.resync_at = asyncio.get_running_loop().time() + registration.resync_s
        self._resyncs_changed.set()
        tasks.create_task(registration.run())

    # Running.

    async def run(self) -> None:
        """List, watch and notify until cancelled. Raises `RuntimeError` if it is called again."""
        if self._tasks is not None or self._stopped:
            raise RuntimeError("the informer has already started")
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                for registration in self._registrations:
                    self._start(tasks, registration)
                working = [tasks.create_task(self._apply()), tasks.create_task(self._resync())]
                async with self._following:
                    await self._reflector.run()
            except TimeoutError:
                if not self._following.expired():
                    raise
                await self._empty(working)
            finally:
                # Before the group cancels its tasks, because it then accepts no new ones.
                self._stop()

    async def end(self) -> None:
        """Stop following the server: handlers get a deletion of each object in the store, then `run` returns.

        Waits until the handlers have returned. Does nothing if the informer does not run.
        """
        if self._tasks is not None:
            self._following.reschedule(asyncio.get_running_loop().time())
            await self._ended.wait()

    async def _empty(self, working: list[asyncio.Task[None]]) -> None:
        """Remove all objects, and wait until the handlers have processed the deletions."""
        for task in working:
            task.cancel()
        await asyncio.wait(working)
        gone: Delta[T] = Delta(DeltaType.REPLACED_ALL, resource_version=self.indexer.resource_version)
        self._applier.apply(Batch([gone], is_in_initial_list=False))
        registrations = list(self._registrations)
        for registration in registrations:
            registration.finish()
        for registration in registrations:
            await registration.removed()

    def _stop(self) -> None:
        self._tasks = None
        self._stopped = True
        self._settled.set()
        self._ended.set()
        self.indexer.close(InformerStopped(f"the {self} has stopped"))

    async def _apply(self) -> None:
        while True:
            batch = await self._queue.pop_batch()
            self._applier.apply(batch)
            if not self._synced and self._queue.has_synced():
                self._synced = True
                self._settled.set()
                for registration in self._registrations:
                    registration.notify_synced()
            # Let other tasks run: handlers, and the reflector if it waits for room.
            await asyncio.sleep(0)

    async def _resync(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._resyncs_changed.clear()
            periodic = [registration for registration in self._registrations if registration.resync_s]
            due = [registration for registration in periodic if registration.resync_at <= loop.time()]
            if due:
                self._begin_resync(due, loop.time())
            next_at = min((registration.resync_at for registration in periodic), default=None)
            try:
                async with asyncio.timeout_at(next_at):
                    await self._resyncs_changed.wait()
            except TimeoutError:
                pass

    def _begin_resync(self, due: Collection[Registration[T]], now: float) -> None:
        for registration in self._registrations:
            if registration in due:
                registration.resyncing = True
                registration.resync_at = now + registration.resync_s
            elif self._settings.compress_deltas:
                # A DeltaFIFO does not show the end of a resync, so it lasts until the next one starts.
                registration.resyncing = False
        self._queue.resync()
