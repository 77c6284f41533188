"""What plugins are. One class may have several extension points; `framework.py` finds them by their methods.

Filters and scores say something of all Nodes at once, in arrays of one number for each row of the table.
Source of the points: pkg/scheduler/framework/interface.go (1.36).
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
    """What happens in a cluster that may help a Pod which fits nowhere."""

    POD_ADDED = "AssignedPodAdd"
    POD_UPDATED = "AssignedPodUpdate"
    POD_DELETED = "AssignedPodDelete"
    SELF_UPDATED = "PodUpdate"
    """The Pod itself was changed."""
    NODE_ADDED = "NodeAdd"
    NODE_ALLOCATABLE = "NodeAllocatableChange"
    NODE_LABELS = "NodeLabelChange"
    NODE_TAINTS = "NodeTaintChange"
    NODE_DELETED = "NodeDelete"
    NAMESPACE_LABELS = "NamespaceLabelChange"
    CLAIM_CHANGED = "PvcChange"
    VOLUME_CHANGED = "PvChange"
    STORAGE_CHANGED = "StorageClassChange"
    WILDCARD = "Wildcard"
    """Anything: to try again in any case."""


Hint = Callable[[PodInfo, Any, Any], bool]
"""Whether an event may help a Pod: told the Pod, and the event's object before and after (None where there is none)."""


def always(pod: PodInfo, old: Any, new: Any) -> bool:
    """Every event of this sort may help."""
    return True


class Plugin(Protocol):
    """What every plugin has."""

    @property
    def name(self) -> str:
        """As in Kubernetes' configuration."""
        ...

    @property
    def events(self) -> Mapping[ClusterEvent, Hint]:
        """The events after which a Pod that this plugin has rejected may fit."""
        ...


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A Node of which some Pods are gone and to which others have come."""

    row: int
    removed: Sequence[PodInfo] = ()
    added: Sequence[PodInfo] = ()


class PreEnqueuePlugin(Plugin, Protocol):
    """Holds Pods back from the queue."""

    def pre_enqueue(self, pod: PodInfo) -> str:
        """Why the Pod must wait; empty when it need not."""
        ...


class FilterPlugin(Plugin, Protocol):
    """Says which Nodes a Pod cannot have."""

    def filter(self, cycle: Cycle) -> Ints | None:
        """For each row 0, or the bits of the reasons; None when there is nothing to say. Raises `Unschedulable`."""
        ...

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """The texts of a row's bits."""
        ...

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """What it would say of one row if other Pods were there. Called after `filter` in the same cycle."""
        ...


class ScorePlugin(Plugin, Protocol):
    """Says which Nodes are better."""

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """For each row 0 to 100; None when all are alike. Of rows that are not feasible it may say anything."""
        ...


class ReservePlugin(Plugin, Protocol):
    """Keeps something for a Pod once it has a Node."""

    def reserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """The Pod has its Node. Raises `Unschedulable`."""
        ...

    def unreserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """It does not get it. May be called though `reserve` was not, or has failed."""
        ...


class PermitPlugin(Plugin, Protocol):
    """Has the last word before a Pod is bound."""

    async def permit(self, cycle: Cycle, pod: PodInfo) -> None:
        """Returns when the Pod may be bound. Raises `Unschedulable`."""
        ...


class PreBindPlugin(Plugin, Protocol):
    """Prepares what a Pod needs on its Node."""

    async def pre_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        """Returns when it is there. Raises `Unschedulable`, `ClientError`."""
        ...


class BindPlugin(Plugin, Protocol):
    """Writes where a Pod goes."""

    async def bind(self, cycle: Cycle, pod: PodInfo) -> bool:
        """False when it leaves this Pod to the next plugin. Raises `ClientError`."""
        ...


class PostBindPlugin(Plugin, Protocol):
    """Is told of what was bound."""

    def post_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        """The Pod is bound."""
        ...


class PostFilterPlugin(Plugin, Protocol):
    """Makes room when no Node is left."""

    async def post_filter(self, cycle: Cycle, filters: "Filters") -> "PostFilterResult":
        """Try. Raises `ClientError`."""
        ...


class Filters(Protocol):
    """The filters of a profile, as one."""

    def resolvable(self, cycle: Cycle) -> Mask:
        """The Nodes that may have room if Pods were evicted."""
        ...

    def against(self, cycle: Cycle, what_if: WhatIf) -> Sequence[str] | None:
        """Why the Pod would not fit a Node on which other Pods are; None when it would."""
        ...


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What came of it."""

    nominated_node_name: str = ""
    """Where the Pod will fit soon."""
    message: str = ""
    clear: bool = False
    """Take back an earlier nomination."""
    actuate: Callable[[], Awaitable[None]] | None = None
    """What remains to be done for it, while other Pods are tried. Raises `ClientError`."""
