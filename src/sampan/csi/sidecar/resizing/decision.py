"""Function that decides to which size a volume is expanded.

If the result of an expansion is unknown, it is completed before an expansion to another size starts. After a final
error, the user may choose a smaller size.

Source: external-resizer pkg/controller/expand_and_recover.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sampan.core.numbers.quantity import Quantity
from sampan.csi.sidecar.claims import amount, requested
from sampan.kinds import core_v1

CONTROLLER_IN_PROGRESS: Final = "ControllerResizeInProgress"
CONTROLLER_INFEASIBLE: Final = "ControllerResizeInfeasible"
NODE_PENDING: Final = "NodeResizePending"
NODE_IN_PROGRESS: Final = "NodeResizeInProgress"
NODE_INFEASIBLE: Final = "NodeResizeInfeasible"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a claim and its volume."""

    desired: Quantity
    volume: Quantity
    allocated: Quantity | None
    """Size of the last expansion; None if there was none."""
    status: str
    """State of that expansion."""


def sizes_of(claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume) -> Sizes:
    """Return the requested, the allocated and the real size, for the decision about an expansion."""
    status = claim.get("status") or {}
    allocated = status.get("allocatedResources") or {}
    return Sizes(
        requested(claim),
        amount(volume["spec"].get("capacity")),
        amount(allocated) if "storage" in allocated else None,
        (status.get("allocatedResourceStatuses") or {}).get("storage", ""),
    )


def needs_expansion(claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a bound claim requests more than it has."""
    status = claim.get("status") or {}
    bound = status.get("phase") == "Bound" and claim["spec"].get("volumeName")
    return bool(bound) and requested(claim) > amount(status.get("capacity"))


def next_size(sizes: Sizes, *, failed: bool, by_controller: bool) -> Quantity | None:
    """Return the size to expand the volume to; None if the node has to complete an expansion first.

    `failed`: the driver has permanently rejected the last expansion. `by_controller`: the driver expands volumes
    without a node.
    """
    last = sizes.desired if sizes.allocated is None else sizes.allocated
    if sizes.volume >= sizes.desired:
        if sizes.status in (NODE_PENDING, NODE_IN_PROGRESS):
            return None
        if sizes.status == NODE_INFEASIBLE:
            return last if by_controller else sizes.desired
        return last
    if sizes.status in (NODE_PENDING, NODE_IN_PROGRESS):
        return None if sizes.volume >= last else last
    if sizes.status == NODE_INFEASIBLE:
        return last
    if sizes.status == CONTROLLER_IN_PROGRESS and not failed:
        return last
    return sizes.desired
