"""Which Nodes need a Pod and which Pods are too many, whatever is rolled out: decisions alone.

Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go `podsShouldBeOnNode`, `manage` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sampan.controllers.daemon_set.seen import Seen, oldest_first
from sampan.controllers.history import POD_HASH_LABEL
from sampan.loops.views import Node, Pod


@dataclass(slots=True)
class Changes:
    """What is to be done."""

    create: list[str] = field(default_factory=list)
    """Nodes to make a Pod for."""
    delete: list[Pod] = field(default_factory=list)
    failed: list[tuple[str, Pod]] = field(default_factory=list)
    """Pods that have failed, with their Nodes: to be deleted, but not in a hurry."""
    succeeded: list[tuple[str, Pod]] = field(default_factory=list)
    """Pods that have ended well, which they should not: to be deleted."""


def upkeep(seen: Seen) -> Changes:
    """What is to be done on all Nodes."""
    changes = Changes()
    there = set()
    for node in seen.nodes:
        there.add(node.metadata.name)
        _on_node(seen, node, changes)
    for name, pods in seen.pods.items():
        if name not in there:
            # They can never be scheduled, and nobody else deletes them.
            changes.delete += [pod for pod in pods if not pod.spec.node_name]
    return changes


def _on_node(seen: Seen, node: Node, changes: Changes) -> None:
    name = node.metadata.name
    pods = seen.pods.get(name)
    if pods is None:
        if name in seen.wanted:
            changes.create.append(name)
        return
    present = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    if not seen.placement.should_stay(node):
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
    if not seen.allows_surge:
        changes.delete += oldest_first(running)[1:]
    elif running:
        changes.delete += _surplus(seen, running)
    elif name in seen.wanted:
        changes.create.append(name)


def _surplus(seen: Seen, running: Sequence[Pod]) -> list[Pod]:
    """With surge there may be an old and a new Pod, as long as the old one is ready and the new one not yet available.

    One Pod alone stays, whatever it is.
    """
    if len(running) == 1:
        return []
    in_order = oldest_first(running)
    new = [pod for pod in in_order if pod.metadata.labels.get(POD_HASH_LABEL) == seen.hashed]
    old = [pod for pod in in_order if pod.metadata.labels.get(POD_HASH_LABEL) != seen.hashed]
    surplus = new[1:] + old[1:]
    if new and old and (not old[0].is_ready or seen.is_available(new[0])):
        surplus.append(old[0])
    return surplus
