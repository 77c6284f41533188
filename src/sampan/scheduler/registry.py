"""Registry of plugins by name. More plugins can be added: `set_up(context, more_plugins={…})`."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.client.client import Client
from sampan.core.time import Clock
from sampan.informer.store.indexer import Indexer
from sampan.operator.events import EventRecorder
from sampan.scheduler.default_selectors import DefaultSelectors
from sampan.scheduler.extender.extenders import Extenders
from sampan.scheduler.framework.plugin import Plugin
from sampan.scheduler.plugins.default_binder import DefaultBinder
from sampan.scheduler.plugins.default_preemption import DefaultPreemption
from sampan.scheduler.plugins.image_locality import ImageLocality
from sampan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from sampan.scheduler.plugins.node_affinity import NodeAffinity
from sampan.scheduler.plugins.node_name import NodeName
from sampan.scheduler.plugins.node_ports import NodePorts
from sampan.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from sampan.scheduler.plugins.node_resources_fit import STRATEGIES, NodeResourcesFit
from sampan.scheduler.plugins.node_unschedulable import NodeUnschedulable
from sampan.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from sampan.scheduler.plugins.pod_topology_spread import PodTopologySpread, default_constraint
from sampan.scheduler.plugins.scheduling_gates import SchedulingGates
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from sampan.scheduler.plugins.volume_binding import VolumeBinding
from sampan.scheduler.plugins.volume_restrictions import VolumeRestrictions
from sampan.scheduler.plugins.volume_zone import VolumeZone
from sampan.scheduler.preemption.budgets import DisruptionBudget
from sampan.scheduler.preemption.eviction import Evictor
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.volumes.storage import Storage


@dataclass(frozen=True, slots=True)
class Handle:
    """Dependencies of plugins."""

    client: Client
    clock: Clock
    recorder: EventRecorder
    nominator: Nominator
    extenders: Extenders
    selectors: DefaultSelectors
    storage: Storage
    csi_nodes: Indexer[Any]
    budgets: Callable[[], Sequence[DisruptionBudget]]
    random: random.Random
    ignored_resources: frozenset[str] = frozenset()


Arguments = Mapping[str, Any]
Factory = Callable[[Arguments, Handle], Plugin]
"""Creates a plugin from its arguments in the configuration. Raises `ValueError`."""


def _fit(arguments: Arguments, handle: Handle) -> Plugin:
    strategy = arguments.get("scoringStrategy") or {}
    kind = strategy.get("type") or "LeastAllocated"
    if kind not in STRATEGIES:
        raise ValueError(f"NodeResourcesFit: the scoring strategy {kind!r} is not one of {', '.join(STRATEGIES)}")
    resources = {each["name"]: int(each.get("weight") or 1) for each in strategy.get("resources") or ()}
    ignored = frozenset(arguments.get("ignoredResources") or ()) | handle.ignored_resources
    return NodeResourcesFit(kind, resources, ignored)


def _balanced(arguments: Arguments, handle: Handle) -> Plugin:
    names = tuple(each["name"] for each in arguments.get("resources") or ())
    return NodeResourcesBalancedAllocation(names) if names else NodeResourcesBalancedAllocation()


def _spread(arguments: Arguments, handle: Handle) -> Plugin:
    defaults = None
    if arguments.get("defaultingType") == "List":
        defaults = [
            default_constraint(
                int(each["maxSkew"]), each["topologyKey"], hard=each.get("whenUnsatisfiable") == "DoNotSchedule"
            )
            for each in arguments.get("defaultConstraints") or ()
        ]
    return PodTopologySpread(handle.selectors, defaults)


def _inter_pod_affinity(arguments: Arguments, handle: Handle) -> Plugin:
    weight = arguments.get("hardPodAffinityWeight")
    return InterPodAffinity(
        hard_weight=1 if weight is None else int(weight),
        ignore_existing_preferences=bool(arguments.get("ignorePreferredTermsOfExistingPods")),
    )


def _preemption(arguments: Arguments, handle: Handle) -> Plugin:
    plugin = DefaultPreemption(
        handle.nominator,
        Evictor(handle.client, handle.clock, handle.recorder),
        budgets=handle.budgets,
        extenders=handle.extenders,
        random=handle.random,
    )
    plugin.min_candidates_percentage = int(arguments.get("minCandidateNodesPercentage", 10))
    plugin.min_candidates = int(arguments.get("minCandidateNodesAbsolute", 100))
    return plugin


FACTORIES: Final[Mapping[str, Factory]] = {
    "SchedulingGates": lambda arguments, handle: SchedulingGates(),
    "NodeUnschedulable": lambda arguments, handle: NodeUnschedulable(),
    "NodeName": lambda arguments, handle: NodeName(),
    "TaintToleration": lambda arguments, handle: TaintToleration(),
    "NodeAffinity": lambda arguments, handle: NodeAffinity(),
    "NodePorts": lambda arguments, handle: NodePorts(),
    "NodeResourcesFit": _fit,
    "VolumeRestrictions": lambda arguments, handle: VolumeRestrictions(handle.storage),
    "NodeVolumeLimits": lambda arguments, handle: NodeVolumeLimits(handle.storage, handle.csi_nodes),
    "VolumeBinding": lambda arguments, handle: VolumeBinding(handle.storage, handle.client),
    "VolumeZone": lambda arguments, handle: VolumeZone(handle.storage),
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod_affinity,
    "DefaultPreemption": _preemption,
    "NodeResourcesBalancedAllocation": _balanced,
    "ImageLocality": lambda arguments, handle: ImageLocality(),
    "DefaultBinder": lambda arguments, handle: DefaultBinder(handle.client),
}

BUILT_IN: Final = frozenset({"PrioritySort"})
"""Names of plugins that the queue itself implements."""
