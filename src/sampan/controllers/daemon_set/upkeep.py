"""Upkeep of a DaemonSet, independent of updates: Nodes that need a Pod and surplus Pods, as pure functions.

Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go `podsShouldBeOnNode`, `manage` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.component_base.views import Node, Pod
from sampan.controllers.daemon_set.state import DaemonSetState, oldest_first
from sampan.controllers.workloads.history import POD_HASH_LABEL


@dataclass(slots=True)
class Changes:
    """Writes that bring the Pods of a DaemonSet to the desired state."""

    create: list[str] = field(default_factory=list)
    """Nodes that need a Pod."""
    delete: list[Pod] = field(default_factory=list)
    failed: list[tuple[str, Pod]] = field(default_factory=list)
    """Failed Pods with their Nodes. They are deleted with backoff."""
    succeeded: list[tuple[str, Pod]] = field(default_factory=list)
    """Pods that ended successfully, which daemon Pods should not do. They are deleted."""


def upkeep(state: DaemonSetState) -> Changes:
    """Return the changes for all Nodes."""
    changes = Changes()
    names = set()
    for node in state.nodes:
        names.add(node.metadata.name)
        _on_node(state, node, changes)
    for name, pods in state.pods.items():
        if name not in names:
            # Pods for a Node that does not exist cannot be scheduled, and no other component deletes them.
            changes.delete += [pod for pod in pods if not pod.spec.node_name]
    return changes


def _on_node(state: DaemonSetState, node: Node, changes: Changes) -> None:
    name = node.metadata.name
    pods = state.pods.get(name)
    if pods is None:
        if name in state.desired:
            changes.create.append(name)
        return
    present = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    if not state.placement.should_stay(node):
        changes.delete += present
        return
    running: list[Pod] = []
    for pod in present:
        if pod.status.phase == "Failed":
            changes.failed.append((name, pod))
        elif pod.status.phase == "Succeeded":
            changes.succeeded.append((name, pod))
        else:
            running.append(pod)
    if not state.allows_surge:
        changes.delete += oldest_first(running)[1:]
    elif running:
        changes.delete += _surplus(state, running)
    elif name in state.desired:
        changes.create.append(name)


def _surplus(state: DaemonSetState, running: Sequence[Pod]) -> list[Pod]:
    """Return the Pods to delete on a Node where surge allows an old and a new Pod at the same time.

    Both stay as long as the old one is ready and the new one is not yet available. A single Pod always stays.
    """
    if len(running) == 1:
        return []
    in_order = oldest_first(running)
    new = [pod for pod in in_order if pod.metadata.labels.get(POD_HASH_LABEL) == state.hashed]
    old = [pod for pod in in_order if pod.metadata.labels.get(POD_HASH_LABEL) != state.hashed]
    surplus = new[1:] + old[1:]
    if new and old and (not old[0].is_ready or state.is_available(new[0])):
        surplus.append(old[0])
    return surplus
