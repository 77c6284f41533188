"""`set_up`: registers a scheduler with a manager.

Concurrency: on every replica the informers' handlers fill cache and queue; only the leader runs the `Scheduler`.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    POD_DISRUPTION_BUDGETS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)
from sampan.component_base.views import POD_VIEW
from sampan.http.client.address import ServerAddress
from sampan.http.client.transport import HttpTransport
from sampan.informer.ref import Ref
from sampan.informer.registration import Registration
from sampan.informer.store.indexer import Indexer
from sampan.resource import ObjectType, ResourceInfo
from sampan.scheduler.algorithm import Algorithm
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.configuration import ProfileConfig, SchedulerConfiguration
from sampan.scheduler.default_selectors import DefaultSelectors
from sampan.scheduler.event_handlers import NamespaceHandler, NodeHandler, OtherHandler, PodHandler
from sampan.scheduler.extender.extenders import ExtenderBinder, Extenders
from sampan.scheduler.extender.http_extender import ExtenderConfig, HttpExtender, ObjectReaders
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, Plugin
from sampan.scheduler.metrics import SchedulerCollector, SchedulerMetrics
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.budgets import DisruptionBudget, read_budget
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.scheduler.registry import BUILT_IN, FACTORIES, Factory, Handle
from sampan.scheduler.report import SchedulingReport
from sampan.scheduler.scheduler import BINDINGS_MAX, Profile, Scheduler, SchedulerParts
from sampan.scheduler.volumes.capacity import has_grown, is_unlimited_now
from sampan.scheduler.volumes.storage import Storage

_OTHERS: Final[Mapping[ResourceInfo, ClusterEvent]] = {
    PERSISTENT_VOLUME_CLAIMS: ClusterEvent.CLAIM_CHANGED,
    PERSISTENT_VOLUMES: ClusterEvent.VOLUME_CHANGED,
    STORAGE_CLASSES: ClusterEvent.STORAGE_CHANGED,
    CSI_DRIVERS: ClusterEvent.DRIVER_CHANGED,
    CSI_STORAGE_CAPACITIES: ClusterEvent.CAPACITY_CHANGED,
}
"""Kinds whose changes are only events for the queue, because their objects are not cached."""
_HELPS: Final[Mapping[ResourceInfo, Callable[[Ref[Any], Ref[Any]], bool]]] = {
    CSI_DRIVERS: is_unlimited_now,
    CSI_STORAGE_CAPACITIES: has_grown,
}
"""Functions that select the changes that may help a Pod, by kind. For all other kinds, every change may help."""
_NO_PLUGINS: Final[Mapping[str, Factory]] = {}


def set_up(
    context: ControllerContext,
    configuration: SchedulerConfiguration = SchedulerConfiguration(),
    *,
    more_plugins: Mapping[str, Factory] = _NO_PLUGINS,
) -> None:
    """Register a scheduler with the manager: one queue and one cache for all profiles. Raises `ValueError`.

    Call it on the event loop. `more_plugins` are additional plugins, by their names in the configuration.
    """
    _SetUp(context, configuration, {**FACTORIES, **more_plugins}).start()


class _SetUp:
    """Builds the parts of a scheduler and connects them."""

    def __init__(
        self, context: ControllerContext, configuration: SchedulerConfiguration, factories: Mapping[str, Factory]
    ) -> None:
        self._context = context
        self._factories = factories
        self._client = context.manager.client.direct
        self._random = random.Random(configuration.seed)
        self._budget_lister = context.informer(POD_DISRUPTION_BUDGETS).lister()
        self._extenders = Extenders([self._extender(each) for each in configuration.extenders])
        self._cache = Cache(asyncio.get_running_loop().time)
        self._nominator = Nominator()
        self._profiles = {each.scheduler_name: self._profile(each) for each in configuration.profiles}
        self._hints = {
            name: {plugin.name: plugin.events for plugin in profile.framework.plugins}
            for name, profile in self._profiles.items()
        }
        self._queue = SchedulingQueue(
            self._gate, self._hints_of, nominator=self._nominator, backoff=configuration.backoff
        )
        self._pods = PodHandler(self._cache, self._queue, self._profiles)

    def start(self) -> None:
        """Register handlers and the scheduler with the manager."""
        informer = self._context.informer
        # Handlers of Pods come last, so that the objects that decide where Pods fit are cached first.
        registrations: list[Registration[Any]] = [
            *(
                informer(kind).add_handler(OtherHandler(self._queue, event, _HELPS.get(kind)))
                for kind, event in _OTHERS.items()
            ),
            informer(NAMESPACES).add_handler(NamespaceHandler(self._cache, self._queue)),
            informer(NODES).add_handler(NodeHandler(self._cache, self._queue)),
            informer(POD_VIEW).add_handler(self._pods),
        ]
        algorithm = Algorithm(self._nominator, self._extenders, self._random)
        metrics = SchedulerMetrics()
        SchedulerCollector(self._context.manager.registry, metrics, self._queue, self._cache.sizes)
        manager, now = self._context.manager, asyncio.get_running_loop().time
        report = SchedulingReport(self._queue, manager.history, workers=BINDINGS_MAX, now=now)
        manager.reports.add(report)
        parts = SchedulerParts(
            client=self._client,
            clock=self._context.clock,
            cache=self._cache,
            queue=self._queue,
            pending=self._pods.pending,
            algorithm=algorithm,
            metrics=metrics,
            report=report,
            profiles=self._profiles,
        )
        self._scheduler = Scheduler(parts)
        self._registrations = registrations
        manager.add(self._run)

    async def _run(self) -> None:
        try:
            for registration in self._registrations:
                await registration.synced()
            await self._scheduler.run()
        finally:
            await self._extenders.aclose()

    def _profile(self, config: ProfileConfig) -> Profile:
        recorder = self._context.recorder(config.scheduler_name)
        handle = Handle(
            client=self._client,
            clock=self._context.clock,
            recorder=recorder,
            nominator=self._nominator,
            extenders=self._extenders,
            selectors=self._selectors(),
            storage=Storage(*(self._store(kind) for kind in _OTHERS)),
            csi_nodes=self._store(CSI_NODES),
            budgets=self._budgets,
            random=self._random,
            ignored_resources=frozenset().union(*(e.config.ignored_resources for e in self._extenders.extenders)),
        )
        plugins: list[Plugin] = [ExtenderBinder(self._extenders)]
        for name in config.plugins:
            if name in BUILT_IN:
                continue
            if name not in self._factories:
                raise ValueError(f"profile {config.scheduler_name}: unknown plugin {name!r}")
            plugins.append(self._factories[name](config.arguments.get(name) or {}, handle))
        weights = {name: weight or int(name not in FACTORIES) for name, weight in config.plugins.items()}
        return Profile(Framework(plugins, weights, off=config.off), recorder)

    def _store(self, kind: ResourceInfo | ObjectType[Any]) -> Indexer[Any]:
        return self._context.informer(kind).indexer

    def _selectors(self) -> DefaultSelectors:
        controllers = (REPLICATION_CONTROLLERS, REPLICA_SETS, STATEFUL_SETS)
        return DefaultSelectors(self._store(SERVICES), {kind.kind: self._store(kind) for kind in controllers})

    def _budgets(self) -> list[DisruptionBudget]:
        return [read_budget(obj) for obj in self._budget_lister.list()]

    def _extender(self, config: ExtenderConfig) -> HttpExtender:
        pods, nodes = self._store(POD_VIEW), self._store(NODES)
        transport = HttpTransport(ServerAddress.parse(config.url_prefix), tls=config.tls)
        return HttpExtender(config, transport, ObjectReaders(partial(_raw, pods), partial(_raw, nodes)))

    def _gate(self, pod: PodInfo) -> str:
        plugins = self._profiles[pod.constraints.scheduler_name].framework.pre_enqueue
        return next((reason for plugin in plugins if (reason := plugin.pre_enqueue(pod))), "")

    def _hints_of(self, pod: PodInfo) -> Mapping[str, Mapping[ClusterEvent, Hint]]:
        return self._hints[pod.constraints.scheduler_name]


def _raw(store: Indexer[Any], key: str) -> bytes | None:
    ref = store.get(key)
    return None if ref is None else ref.raw
