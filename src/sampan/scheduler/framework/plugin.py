"""Interfaces of plugins. A class may have several extension points; `framework.py` finds them by their methods.

Filters and scores handle all Nodes at once, in arrays with one number per row of the table. Source of the extension
points: pkg/scheduler/framework/interface.go (1.36).
"""

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.pod_info import PodInfo

MAX_NODE_SCORE: Final = 100


class ClusterEvent(enum.Enum):
    """Changes in a cluster that may make an unschedulable Pod schedulable."""

    POD_ADDED = "AssignedPodAdd"
    POD_UPDATED = "AssignedPodUpdate"
    POD_DELETED = "AssignedPodDelete"
    SELF_UPDATED = "PodUpdate"
    """The Pod itself has changed."""
    NODE_ADDED = "NodeAdd"
    NODE_ALLOCATABLE = "NodeAllocatableChange"
    NODE_LABELS = "NodeLabelChange"
    NODE_TAINTS = "NodeTaintChange"
    NODE_DELETED = "NodeDelete"
    NAMESPACE_LABELS = "NamespaceLabelChange"
    CLAIM_CHANGED = "PvcChange"
    VOLUME_CHANGED = "PvChange"
    STORAGE_CHANGED = "StorageClassChange"
    DRIVER_CHANGED = "CSIDriverChange"
    CAPACITY_CHANGED = "CSIStorageCapacityChange"
    WILDCARD = "Wildcard"
    """Any change: retry in any case."""


Hint = Callable[[PodInfo, Any, Any], bool]
"""Returns True if an event may help a Pod. Its arguments are the Pod, and the object before and after the event (None
if it does not exist).
"""


def always(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return True: every event of this type may help."""
    return True


class Plugin(Protocol):
    """Common interface of all plugins."""

    @property
    def name(self) -> str:
        """Name, as in Kubernetes' configuration."""
        ...

    @property
    def events(self) -> Mapping[ClusterEvent, Hint]:
        """Events after which a Pod that this plugin has rejected may fit."""
        ...


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A Node with some Pods removed and others added."""

    row: int
    removed: Sequence[PodInfo] = ()
    added: Sequence[PodInfo] = ()


class PreEnqueuePlugin(Plugin, Protocol):
    """Keeps Pods out of the queue."""

    def pre_enqueue(self, pod: PodInfo) -> str:
        """Return the reason why the Pod must wait; empty if it may be queued."""
        ...


class FilterPlugin(Plugin, Protocol):
    """Rejects Nodes for a Pod."""

    def filter(self, cycle: Cycle) -> Ints | None:
        """Return 0 or the bits of the reasons for each row, or None if no row is rejected. Raises `Unschedulable`."""
        ...

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the messages for the bits of a row."""
        ...

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the result of `filter` for one Node with changed Pods. Called after `filter` in the same cycle."""
        ...


class ScorePlugin(Plugin, Protocol):
    """Scores Nodes for a Pod."""

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Return 0 to 100 for each row, or None if all are equal. Values of infeasible rows are ignored."""
        ...


class ReservePlugin(Plugin, Protocol):
    """Reserves resources for a Pod after a Node is chosen."""

    def reserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """Reserve resources for the Pod on its Node. Raises `Unschedulable`."""
        ...

    def unreserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """Undo the reservation. May be called even if `reserve` was not called or has failed."""
        ...


class PermitPlugin(Plugin, Protocol):
    """Approves or delays the binding of a Pod."""

    async def permit(self, cycle: Cycle, pod: PodInfo) -> None:
        """Return once the Pod may be bound. Raises `Unschedulable`."""
        ...


class PreBindPlugin(Plugin, Protocol):
    """Prepares a Node for a Pod before binding."""

    async def pre_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        """Return once everything is prepared. Raises `Unschedulable`, `ClientError`."""
        ...


class BindPlugin(Plugin, Protocol):
    """Binds Pods to Nodes."""

    async def bind(self, cycle: Cycle, pod: PodInfo) -> bool:
        """Bind the Pod; return False to leave it to the next plugin. Raises `ClientError`."""
        ...


class PostBindPlugin(Plugin, Protocol):
    """Gets a notification after a Pod is bound."""

    def post_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        """Handle a bound Pod."""
        ...


class PostFilterPlugin(Plugin, Protocol):
    """Tries to make room for a Pod that fits no Node."""

    async def post_filter(self, cycle: Cycle, filters: "Filters") -> "PostFilterResult":
        """Try to make room. Raises `ClientError`."""
        ...


class Filters(Protocol):
    """The filters of a profile, combined."""

    def resolvable(self, cycle: Cycle) -> Mask:
        """Return the Nodes where evicting Pods might help."""
        ...

    def against(self, cycle: Cycle, what_if: WhatIf) -> Sequence[str] | None:
        """Return the reasons why the Pod does not fit a Node with changed Pods; None if the Pod fits."""
        ...


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """Result of the preemption."""

    nominated_node_name: str = ""
    """Node on which the Pod will fit soon."""
    message: str = ""
    clear: bool = False
    """True to remove an earlier nomination."""
    actuate: Callable[[], Awaitable[None]] | None = None
    """Remaining work, to run while other Pods are scheduled. Raises `ClientError`."""
