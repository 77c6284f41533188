"""`SharedInformer`: a local copy of a collection of objects, kept up to date, and handlers that are told of changes.

Concurrency: `run()` owns all tasks. The reflector's task puts deltas into the queue; one task takes them out, changes
the store, and puts notices into the queues of the handlers, each of which has a task of its own; one task watches over
resyncs. Store and notices change together, without another task running in between.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final, Generic, TypeVar

from sampan.client.list_watch import ListWatch
from sampan.informer.apply import Applier
from sampan.informer.delta import Queue
from sampan.informer.delta_fifo import DeltaFIFO
from sampan.informer.handler import EventHandler
from sampan.informer.in_order_queue import InOrderQueue
from sampan.informer.indexer import Indexer, IndexFunction
from sampan.informer.lister import Lister
from sampan.informer.metrics import InformerMetrics
from sampan.informer.ref import RefReader
from sampan.informer.reflector import Reflector
from sampan.informer.registration import Registration
from sampan.informer.settings import InformerSettings
from sampan.informer.transform import Transform
from sampan.informer.watch_failure import WatchErrorHandler
from sampan.resource.object_type import ObjectType

T = TypeVar("T")

RESYNC_S_MIN: Final = 1.0
"""The shortest time between resyncs; shorter ones are raised to it."""


class InformerStopped(RuntimeError):
    """The informer has run and ended; it cannot be used again."""


class SharedInformer(Generic[T]):
    """A local copy of all objects that a `ListWatch` has, and news of them for any number of handlers.

    Guarantees:
    - The states of an object in the store are a subsequence of its states at the server, in their order, and the last
      one comes in the end, unless the informer is ended or cannot reach the server. Between different objects nothing
      is promised of order.
    - Each handler is told of each change of the store after it, one at a time, in order. A handler that comes late is
      told of all objects in the store as added first.
    - What is deleted is told with its last state (and the resourceVersion of the deletion), or with a tombstone that
      has the last known one.
    - An object is its key. When it was deleted and made anew while nobody looked, that is one update with two uids.
    - A change that does not change the resourceVersion is none: only a resync tells the same state again, and only to
      handlers that want it. A resync is local; the server is not asked.
    - Events that are repeated or late change nothing.

    Source: client-go tools/cache/shared_informer.go (1.36). Otherwise than there, a re-list that brings nothing new is
    told to no handler, and a deletion of what was not in the store is not told.
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
        """`resync_s` is the period of handlers that say none; `transform` sees the bytes of each object first."""
        self._settings = settings or InformerSettings()
        self._resync_s = resync_s
        self.object_type = object_type
        self.metrics = InformerMetrics()
        self.indexer: Indexer[T] = Indexer(indexers)
        """The store. To be read only."""
        self._queue: Queue[T] = DeltaFIFO(self.indexer) if self._settings.compress_deltas else InOrderQueue()
        self._registrations: dict[Registration[T], None] = {}
        self._applier = Applier(self.indexer, self._registrations, self.metrics)
        reader = RefReader(object_type, transform=transform, keep_managed_fields=self._settings.keep_managed_fields)
        self._reflector = Reflector(
            list_watch, self._queue, reader, settings=self._settings.reflector, metrics=self.metrics
        )
        self._synced = False
        self._settled = asyncio.Event()
        """Synced or stopped."""
        self._resyncs_changed = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._stopped = False

    def __str__(self) -> str:
        return f"informer of {self.object_type.info.gvr.group_resource}"

    # Reading.

    def lister(self) -> Lister[T]:
        """Decoded reading from the store."""
        return Lister(self.indexer)

    def has_synced(self) -> bool:
        """Whether the store holds all of a first list. A handler may not have been told all of it yet: ask its
        `Registration`."""
        return self._synced

    async def synced(self) -> None:
        """Wait for that. Raises `InformerStopped` when the informer ends before."""
        await self._settled.wait()
        if not self.has_synced():
            raise InformerStopped(f"the {self} stopped before it had synced")

    @property
    def last_resource_version(self) -> str:
        """The version that the store has surely reached; empty before the first list."""
        return self.indexer.resource_version

    async def at_least(self, resource_version: str, *, timeout_s: float | None = None) -> None:
        """Wait until the store has reached a version, to read one's own write in it.

        The version is what the write's answer said. A write that is outside of the informer's namespace or selectors is
        reached too, with the next event or bookmark, which may take a minute. Raises `TimeoutError`, and
        `InformerStopped` when the informer ends before.
        """
        await self.indexer.at_least(resource_version, timeout_s=timeout_s)

    @property
    def size_bytes(self) -> int:
        """Bytes of the objects in the store; with all around them they take about a kilobyte more each."""
        return sum(len(ref.raw) for ref in self.indexer.refs())

    @property
    def pending(self) -> int:
        """Deltas that wait to be taken into the store."""
        return len(self._queue)

    @property
    def stopped(self) -> bool:
        """Whether `run` has ended."""
        return self._stopped

    # Handlers.

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> Registration[T]:
        """Tell a handler from now on, at any time; first it is told of all objects in the store.

        `resync_s`: how often it is told everything again, at least `RESYNC_S_MIN`; 0 never, None as the informer says.
        Raises `InformerStopped`.
        """
        if self._stopped:
            raise InformerStopped("a handler was not added: the informer has stopped")
        period = self._resync_s if resync_s is None else resync_s
        period = max(period, RESYNC_S_MIN) if period > 0 else 0.0
        registration = Registration(handler, resync_s=period, on_remove=self._forget)
        for ref in self.indexer.refs():
            registration.tell_added(ref, True)
        if self.has_synced():
            registration.tell_synced()
        self._registrations[registration] = None
        if self._tasks is not None:
            self._start(self._tasks, registration)
        return registration

    @property
    def registrations(self) -> list[Registration[T]]:
        """The handlers that are told."""
        return list(self._registrations)

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        """Call a handler for each failure of a list or watch, instead of logging it. Raises `RuntimeError` once the
        informer runs."""
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
        """List, watch, and tell, until cancelled. Raises `RuntimeError` when it is called again."""
        if self._tasks is not None or self._stopped:
            raise RuntimeError("the informer has already started")
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                for registration in self._registrations:
                    self._start(tasks, registration)
                tasks.create_task(self._apply())
                tasks.create_task(self._resync())
                await self._reflector.run()
            finally:
                # Before the group ends its tasks: it takes no new ones any more.
                self._stop()

    def _stop(self) -> None:
        self._tasks = None
        self._stopped = True
        self._settled.set()
        self.indexer.close(InformerStopped(f"the {self} has stopped"))

    async def _apply(self) -> None:
        while True:
            batch = await self._queue.pop_batch()
            self._applier.apply(batch)
            if not self._synced and self._queue.has_synced():
                self._synced = True
                self._settled.set()
                for registration in self._registrations:
                    registration.tell_synced()
            # A turn for the others: handlers, and the reflector when it waits for room.
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
                # The end of a resync is not seen in a DeltaFIFO: it lasts until the next one begins.
                registration.resyncing = False
        self._queue.resync()
