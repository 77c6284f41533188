"""State of a Node that decides about the detachment of its volumes.

Source: kube-controller-manager pkg/controller/volume/attachdetach/reconciler/reconciler.go (1.36).
"""

from typing import Final

from sampan.resource import Object

OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
FORCE_AFTER_S: Final = 6 * 60.0
"""Time after which a volume is detached from an unhealthy node that has not unmounted it."""


def is_in_use(node: Object | None, volume: str) -> bool:
    """Return True if the node may have the volume mounted. For a deleted Node this is unknown, so it is True."""
    return node is None or volume in ((node.get("status") or {}).get("volumesInUse") or ())


def is_healthy(node: Object | None) -> bool:
    """Return True if the node is ready."""
    conditions = ((node or {}).get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def is_out_of_service(node: Object | None) -> bool:
    """Return True if an administrator has declared that the machine is shut down."""
    taints = ((node or {}).get("spec") or {}).get("taints") or ()
    return any(taint.get("key") == OUT_OF_SERVICE for taint in taints)


def may_detach(node: Object | None, volume: str, waited_s: float) -> bool:
    """Return True if a volume that no Pod needs any more may be detached from a node."""
    if not is_in_use(node, volume) or is_out_of_service(node):
        return True
    return waited_s >= FORCE_AFTER_S and not is_healthy(node)


def needs_no_check(node: Object | None, waited_s: float) -> bool:
    """Return True if the volume may be detached without reading the current `volumesInUse` of the node."""
    return waited_s >= FORCE_AFTER_S or is_out_of_service(node)
