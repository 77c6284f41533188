"""Garbage among Pods, as pure functions.

Source: kube-controller-manager pkg/controller/podgc/gc_controller.go (1.36).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final

from sampan.component_base.views import Pod
from sampan.kinds import core_v1

OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"


def terminated(pods: Iterable[Pod], threshold: int) -> Sequence[Pod]:
    """Return ended Pods beyond the threshold: evicted ones first, then the oldest. A threshold of 0 disables this."""
    ended = [pod for pod in pods if pod.is_terminated]
    surplus = len(ended) - threshold
    if threshold <= 0 or surplus <= 0:
        return ()
    return sorted(ended, key=_order)[:surplus]


def unscheduled(pods: Iterable[Pod]) -> Sequence[Pod]:
    """Return Pods that are being deleted and have no node, so no kubelet will end them."""
    return [pod for pod in pods if pod.metadata.deletion_timestamp is not None and not pod.spec.node_name]


def out_of_service(pods: Iterable[Pod], nodes: Container[str]) -> Sequence[Pod]:
    """Return Pods that are being deleted on nodes that are out of service."""
    deleting = [pod for pod in pods if pod.metadata.deletion_timestamp is not None and pod.spec.node_name in nodes]
    return sorted(deleting, key=_order)


def orphaned(pods: Iterable[Pod], gone: Container[str]) -> Sequence[Pod]:
    """Return Pods on missing nodes."""
    return [pod for pod in pods if pod.spec.node_name and pod.spec.node_name in gone]


def is_out_of_service(node: core_v1.Node) -> bool:
    """Return True if an administrator has marked a node as out of service, and it is not ready."""
    taints = (node.get("spec") or {}).get("taints") or ()
    if not any(taint.get("key") == OUT_OF_SERVICE for taint in taints):
        return False
    status = node.get("status")
    conditions = (status.get("conditions") if status else None) or ()
    return not any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


class Quarantine:
    """Missing nodes, and the time since when they are missing."""

    def __init__(self, quarantine_s: float) -> None:
        self._quarantine_s = quarantine_s
        self._since: dict[str, float] = {}

    def over(self, missing: Iterable[str], now_s: float) -> Sequence[str]:
        """Return the nodes that have been missing long enough. Nodes that exist again are dropped."""
        self._since = {name: self._since.get(name, now_s) for name in missing}
        return [name for name, since in self._since.items() if now_s - since >= self._quarantine_s]


def _order(pod: Pod) -> tuple[bool, str, str]:
    evicted = pod.status.phase == "Failed" and pod.status.reason == "Evicted"
    return (not evicted, pod.metadata.creation_timestamp or "", pod.metadata.name)
