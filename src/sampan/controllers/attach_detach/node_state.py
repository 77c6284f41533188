"""State of a Node that decides about the detachment of its volumes.

Source: kube-controller-manager pkg/controller/volume/attachdetach/reconciler/reconciler.go (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.kinds import core_v1

OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
FORCE_AFTER_S: Final = 6 * 60.0
"""Time after which a volume is detached from an unhealthy node that has not unmounted it."""


def is_in_use(node: core_v1.Node | None, volume: str) -> bool:
    """Return True if the node may have the volume mounted. For a deleted Node this is unknown, so it is True."""
    status = node.get("status") if node is not None else None
    return node is None or volume in ((status.get("volumesInUse") if status else None) or ())


def is_healthy(node: core_v1.Node | None) -> bool:
    """Return True if the node is ready."""
    status = node.get("status") if node is not None else None
    conditions = (status.get("conditions") if status else None) or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def is_out_of_service(node: core_v1.Node | None) -> bool:
    """Return True if an administrator has declared that the machine is shut down."""
    spec = node.get("spec") if node is not None else None
    taints = (spec.get("taints") if spec else None) or ()
    return any(taint.get("key") == OUT_OF_SERVICE for taint in taints)


def may_detach(node: core_v1.Node | None, volume: str, waited_s: float) -> bool:
    """Return True if a volume that no Pod needs any more may be detached from a node."""
    if not is_in_use(node, volume) or is_out_of_service(node):
        return True
    return waited_s >= FORCE_AFTER_S and not is_healthy(node)


def needs_no_check(node: core_v1.Node | None, waited_s: float) -> bool:
    """Return True if the volume may be detached without reading the current `volumesInUse` of the node."""
    return waited_s >= FORCE_AFTER_S or is_out_of_service(node)
