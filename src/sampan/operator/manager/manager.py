"""`Manager`: the shared parts of an operator, and the start and end of all its parts.

    async with connect() as client:
        manager = Manager(client, ManagerOptions(probe_address="0.0.0.0:8081"))
        Builder(manager).for_(Network).complete(reconcile)
        await manager.run(handle_signals=True)

Concurrency: `run` owns one task group; every runnable is a task in it. Groups start one after the other, each when the
one before is ready (`Group`), and end in reverse. The leader-elected group starts when this replica leads, and has
ended before the lease is released. When a runnable fails, everything ends in that order and `run` raises its error.
Source: controller-runtime pkg/manager/internal.go (0.24).
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from sampan.client.client import Client
from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.client.transport import Transport
from sampan.informer.factory import SharedInformerFactory
from sampan.informer.informer import Informer
from sampan.operator.caches.cached_client import CachedClient, resource_info
from sampan.operator.controller import Controller, ControllerMetrics, ControllerOptions, FailingObject
from sampan.operator.controller.failing import unindexed
from sampan.operator.events import CoreEventSink, EventBroadcaster, EventRecorder
from sampan.operator.events.sink import CORE_EVENTS, NEW_EVENTS
from sampan.operator.failures.groups import single_error
from sampan.operator.history.reconcile_history import ReconcileHistory
from sampan.operator.leader_election import GuardedTransport, LeaderElectionMetrics, LeaderElector, LeaseLock, LeaseNote
from sampan.operator.manager.caches import Caches
from sampan.operator.manager.client_metrics import ClientCollector
from sampan.operator.manager.informer_metrics import InformerCollector
from sampan.operator.manager.options import ManagerOptions
from sampan.operator.manager.probes import Check, Probes
from sampan.operator.manager.runnable import Group, GroupMember, Runnable, group_of, member_of
from sampan.operator.manager.runnable_group import RunnableGroup, ShutdownTimeout
from sampan.operator.manager.signals import stop_on_signals
from sampan.operator.manager.task_metrics import TaskCollector
from sampan.operator.queue import WorkQueueMetrics
from sampan.operator.reconciler import ReconcileFunction, Reconciler
from sampan.operator.reports import ControllerReports
from sampan.operator.rights import Right, check_reads, check_writes, rights_on, with_reads_of_writes
from sampan.resource import ObjectType, ResourceInfo

_log = logging.getLogger("sampan.manager")

_INSTANCE_LENGTH_MAX: Final = 128


class Manager:
    """Runs controllers and other parts of an operator. Runs once."""

    def __init__(self, client: Client, options: ManagerOptions = ManagerOptions()) -> None:
        self.options = options
        guarded = client
        if options.leader_election is not None:
            guarded = client.through(self.guard)
        if options.tracer is not None:
            guarded = guarded.through(options.tracer.transport)
        self.client = CachedClient(guarded, timeout_s=options.read_timeout_s)
        """Client that reads watched kinds from the cache, other kinds from the server. `client.direct` never caches.

        Both raise `LeaseOver` for writes of a leader whose lease has expired.
        """
        self.informers = SharedInformerFactory(
            client, namespace=options.namespace, resync_s=options.resync_s, settings=options.informer_settings
        )
        self.elected = asyncio.Event()
        """Set when this replica leads and its leader-elected runnables have started."""
        self.registry = CollectorRegistry()
        """Registry of the metrics at /metrics."""
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        TaskCollector(self.registry)
        if client.counts is not None:
            ClientCollector(self.registry, client.counts)
        InformerCollector(self.registry, lambda: self.informers.informers)
        self._lock: LeaseLock | None = None
        self.elector = self._make_elector(client)
        served = self.registry if options.probes_serve_metrics else None
        self._probes = Probes(served, options.probe_address or "127.0.0.1:0")
        self._controller_metrics = ControllerMetrics(self.registry)
        self.queue_metrics = WorkQueueMetrics(self.registry)
        """Metrics of work queues outside of `Controller`."""
        self.history = ReconcileHistory()
        """Last reconciles of the objects of all controllers."""
        self.reports = ControllerReports(self.history, lambda: self._controllers.values(), self.queue_metrics)
        """Content of /debug/controllers."""
        self.reports.leads = self.elected.is_set
        self._events = EventBroadcaster(options.event_sink(guarded))
        self._groups = {group: RunnableGroup(group, self._member_failed) for group in Group}
        self._controllers: dict[str, Controller] = {}
        self._caches = Caches(self.client, self.informers, options)
        self._declared: list[tuple[ResourceInfo, str, str]] = []
        self._runnables: list[Any] = []
        self._recorders = 0
        self._over = asyncio.Event()
        self._failure: Exception | None = None
        self._deadline: float | None = None
        self._started = False
        self._add_own_parts()

    @property
    def probes(self) -> Probes:
        """Endpoints for health and metrics."""
        return self._probes

    def add(self, runnable: Runnable | Callable[[], Awaitable[None]], *, group: Group | None = None) -> None:
        """Run an object with `run`, or an asynchronous function. May be called while the manager runs.

        Without `group` only the leader runs it, unless it has `needs_leader_election = False`. Raises `RuntimeError` if
        the manager is stopping, `TypeError`.
        """
        if group is None and getattr(runnable, "warms_up", False):
            warm: Any = runnable
            self._groups[Group.WARM_UP].add(GroupMember(f"{warm}: warm-up", warm.warm_up, warm.ready))
        self._groups[group_of(runnable) if group is None else group].add(member_of(runnable))
        self._runnables.append(runnable)

    @property
    def runnables(self) -> tuple[Any, ...]:
        """Everything that was added, in this order."""
        return tuple(self._runnables)

    def declare_writes(
        self, what: ResourceInfo | ObjectType[Any] | type[Any], *verbs: str, subresource: str = ""
    ) -> None:
        """Declare that the operator writes objects of a kind, for its role.

        Verbs: create, update, patch, delete, deletecollection. Raises `ValueError` for another one. `Builder.writes` is
        usually simpler.
        """
        check_writes(verbs)
        self._declared += [(resource_info(what), verb, subresource) for verb in verbs]

    def declare_reads(self, what: ResourceInfo | ObjectType[Any] | type[Any], *verbs: str) -> None:
        """Declare that the operator reads objects of a kind from the server, with `client.direct`, for its role.

        Verbs: get, list, watch. Kinds that it watches need no declaration. Raises `ValueError` for another verb.
        """
        check_reads(verbs)
        self._declared += [(resource_info(what), verb, "") for verb in verbs]

    def places_of(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> list[str]:
        """Return the namespaces in which the operator works on a kind; "" for all."""
        return self._caches.places_of(resource_info(what))

    def rights(self, *, selected: bool = True) -> list[Right]:
        """Return the rights that the parts of this manager need, as far as they are declared.

        They are those of its informers, of declared writes, of leader election, of Events, and of runnables with a
        method `rights`. `selected`: with those on objects in the namespaces of a `NamespaceSelector`, which are unknown
        before the run: as rights in all namespaces.
        """
        found = []
        for info, scope in self.informers.collections:
            place = self.options.namespace if scope.namespace is None else scope.namespace
            found += rights_on(info, ("list", "watch"), (place,))
        for info in self._caches.selected_kinds() if selected else ():
            found += rights_on(info, ("list", "watch"))
        for info, verb, subresource in self._declared:
            found += rights_on(info, (verb,), self.places_of(info), subresource=subresource)
        if self._recorders:
            events = CORE_EVENTS if self.options.event_sink is CoreEventSink else NEW_EVENTS
            found += rights_on(events, ("create", "patch"), self._places_of_events(events))
        parts = [self.elector, *self._runnables]
        found += [right for part in parts for right in getattr(part, "rights", list)()]
        return with_reads_of_writes(found)

    def new_controller(
        self, name: str, reconciler: Reconciler | ReconcileFunction, options: ControllerOptions = ControllerOptions()
    ) -> Controller:
        """Create a controller that this manager runs; its sources must be added. A `Builder` is usually simpler.

        Raises `ValueError` if another controller has the name: metrics and logs could not distinguish them.
        """
        if name in self._controllers:
            raise ValueError(f"there is a controller called {name!r} already: give this one another name")
        metrics, queue_metrics = self._controller_metrics, self.queue_metrics
        controller = Controller(
            name, reconciler, options=options, metrics=metrics, queue_metrics=queue_metrics, history=self.history
        )
        controller.tracer = self.options.tracer
        self._controllers[name] = controller
        self.add(controller)
        return controller

    def annotate_lease(self, note: Callable[[], LeaseNote]) -> None:
        """Add labels and annotations to the Lease whenever this manager writes it. Without an election, do nothing."""
        if self._lock is not None:
            self._lock.note = note

    def controller(self, name: str) -> Controller:
        """Return a controller of this manager. Raises `LookupError`."""
        if name not in self._controllers:
            raise LookupError(f"there is no controller {name!r} (there are: {', '.join(self._controllers) or 'none'})")
        return self._controllers[name]

    def guard(self, transport: Transport) -> Transport:
        """Return a transport whose writes raise `LeaseOver` when this manager's lease has expired."""
        return GuardedTransport(transport, self._is_over)

    def _places_of_events(self, events: ResourceInfo) -> list[str]:
        """Return the namespaces of Events. Those about an object without a namespace are in `default`."""
        places = self.places_of(events)
        is_wide = any(not info.namespaced for info, _ in self.informers.collections)
        return list(dict.fromkeys([*places, "default"])) if is_wide and "" not in places else places

    async def drain(self) -> None:
        """Start no more reconciles, and wait for the running ones."""
        async with asyncio.TaskGroup() as drains:
            for controller in self._controllers.values():
                drains.create_task(controller.drain())

    def failing(self, *, tries_min: int = 1) -> list[FailingObject]:
        """Return the objects that have failed at least `tries_min` times in a row, the most frequent failures first.

        They are retried, or wait for a change; none is dropped. Each controller lists at most 4096. The objects that an
        index lacks, because its function raises, are listed too.
        """
        found = [each for controller in self._controllers.values() for each in controller.failing()]
        found += [unindexed(each) for informer in self.informers.informers for each in informer.indexer.unindexed]
        return sorted((each for each in found if each.tries >= tries_min), key=lambda each: -each.tries)

    def informer_for(self, what: ResourceInfo | ObjectType[Any] | type[Any]) -> Informer[Any]:
        """Return the informer of a kind, with the namespaces and selectors of the options.

        From now on `client` reads the kind from it.
        """
        return self._caches.informer_for(what)

    def metadata_informer_for(
        self, what: ResourceInfo | ObjectType[Any] | type[Any]
    ) -> Informer[PartialObjectMetadata]:
        """Return an informer of a kind's metadata. From now on `client.metadata(what)` reads from it."""
        return self._caches.metadata_informer_for(what)

    def event_recorder(self, controller: str) -> EventRecorder:
        """Return the event recorder of a controller."""
        self._recorders += 1
        instance = f"{controller}-{self.options.host}"[:_INSTANCE_LENGTH_MAX]
        return EventRecorder(self._events, controller, instance, self.options.clock)

    def add_healthz_check(self, name: str, check: Check) -> None:
        """Add a liveness check: if it fails, the process should be restarted. Raises `ValueError` if the name is in
        use.
        """
        self._probes.add_healthz_check(name, check)

    def add_readyz_check(self, name: str, check: Check) -> None:
        """Add a readiness check: if it fails, the process should get no requests. Raises `ValueError` if the name is in
        use.
        """
        self._probes.add_readyz_check(name, check)

    def stop(self) -> None:
        """Stop all parts, so that `run` returns."""
        self._over.set()

    async def run(self, *, handle_signals: bool = False) -> None:
        """Run until `stop`, a signal (with `handle_signals`), cancellation or a failure. A second signal ends the
        process.

        Raises the first error of a runnable, `LeaderElectionLost`, `CacheSyncTimeout`, `ShutdownTimeout` if a part does
        not end, and `RuntimeError` on the second call.
        """
        if self._started:
            raise RuntimeError("the manager was started more than once")
        self._started = True
        with stop_on_signals(self.stop) if handle_signals else nullcontext():
            async with asyncio.TaskGroup() as tasks:
                life = tasks.create_task(self._live(tasks), name="manager")
                try:
                    await self._over.wait()
                finally:
                    await self._end(life)
        if self._failure is not None:
            raise self._failure

    # ---- life cycle

    async def _live(self, tasks: asyncio.TaskGroup) -> None:
        try:
            for group in Group:
                if group is not Group.LEADER_ELECTED:
                    await self._groups[group].start(tasks)
            lead = functools.partial(self._lead, tasks)
            await (lead() if self.elector is None else self.elector.run(lead))
        except Exception as error:
            self._fail(error)

    async def _lead(self, tasks: asyncio.TaskGroup) -> None:
        """Run the leader-elected group until cancelled.

        Members get the grace period to finish only if the manager is stopping, not if the lease is lost.
        """
        group = self._groups[Group.LEADER_ELECTED]
        try:
            await group.start(tasks)
            _log.info("controllers started, their caches have synced", extra={"count": len(group)})
            self.elected.set()
            await asyncio.get_running_loop().create_future()
        finally:
            self.elected.clear()
            try:
                await group.stop(self._deadline or 0.0)
            except asyncio.CancelledError:
                await group.stop(0.0)
                raise

    async def _end(self, life: asyncio.Task[None]) -> None:
        self._deadline = asyncio.get_running_loop().time() + self.options.graceful_shutdown_timeout_s
        life.cancel()
        await asyncio.wait({life})
        for group in reversed(Group):
            try:
                await self._groups[group].stop(self._deadline)
            except ShutdownTimeout as error:
                self._fail(error)

    def _member_failed(self, member: GroupMember, error: Exception) -> None:
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Stop everything and remember the first failure, which `run` raises."""
        if isinstance(error, ExceptionGroup):
            single = single_error(error)
            error = single if isinstance(single, Exception) else error
        if self._failure is None:
            self._failure = error
        else:
            _log.error("error during shutdown: %s", error)
        self._over.set()

    # ---- internal parts

    def _make_elector(self, client: Client) -> LeaderElector | None:
        config = self.options.leader_election
        if config is None:
            return None
        # A hanging request must leave time for another one before the renew deadline. Source: client-go
        # tools/leaderelection/resourcelock/interface.go `NewFromKubeconfig` (1.36).
        client = client.with_defaults(request_timeout_s=config.renew_deadline_s / 2)
        lock = self._lock = LeaseLock(client, config.namespace, config.name, self.options.clock)
        return LeaderElector(config, lock, metrics=LeaderElectionMetrics(self.registry))

    def _is_over(self) -> bool:
        return self.elector is not None and self.elector.is_over()

    def _add_own_parts(self) -> None:
        if self.options.probe_address:
            self.add(self._probes, group=Group.HTTP_SERVERS)
        self._groups[Group.CACHES].add(GroupMember("informers", self._caches.run, self._caches.synced))
        self.add(self._events, group=Group.CACHES)
        self.add_readyz_check("informer-sync", self._caches.check)
        if self.elector is not None:
            self.add_healthz_check("leaderElection", self.elector.check)
