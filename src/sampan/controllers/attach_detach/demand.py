"""Demand for attached volumes: which Pods need a volume, and on which nodes.

Source: kube-controller-manager pkg/controller/volume/attachdetach/{attach_detach_controller,util/util}.go;
pkg/volume/util `IsMultiAttachAllowed` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sampan.component_base.views import Pod
from sampan.kinds import core_v1
from sampan.resource import meta

_SHARED: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_FOREIGN: Final = "pod(s) in different namespaces"


def needs_volumes(pod: Pod) -> bool:
    """Return True if a Pod has a node, and its containers run or may still start."""
    if not pod.spec.node_name or pod.is_terminated:
        return False
    return pod.metadata.deletion_timestamp is None or _runs(pod)


def _runs(pod: Pod) -> bool:
    return any(not ({"terminated", "waiting"} & each.state.keys()) for each in pod.status.container_statuses)


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Return the Pods that need their volumes, by node. The node of the oldest Pod is the first."""
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name)):
        if needs_volumes(pod):
            found.setdefault(pod.spec.node_name, []).append(pod)
    return found


def is_exclusive(volume: core_v1.PersistentVolume) -> bool:
    """Return True if a volume may be attached to only one node at a time."""
    modes = volume["spec"].get("accessModes") or ()
    return bool(modes) and not _SHARED & set(modes)


def is_bound(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a volume and a claim are bound to each other."""
    reference = volume["spec"].get("claimRef") or {}
    return (
        reference.get("uid") == meta(claim).uid
        and claim["spec"].get("volumeName") == meta(volume).name
        and (claim.get("status") or {}).get("phase") == "Bound"
    )


def multi_attach_note(volume_name: str, pod: Pod, others: Sequence[Pod]) -> str:
    """Return the text of the event for a Pod whose volume is attached to another node.

    `others`: the Pods that use the volume on that node.
    """
    local = [each.metadata.name for each in others if each.metadata.namespace == pod.metadata.namespace]
    foreign = len(others) - len(local)
    if local:
        reason = f"Volume is already used by pod(s) {', '.join(local)}"
        reason += f" and {foreign} {_FOREIGN}" if foreign else ""
    elif foreign:
        reason = f"Volume is already used by {foreign} {_FOREIGN}"
    else:
        reason = "Volume is already exclusively attached to one node and can't be attached to another"
    return f'Multi-Attach error for volume "{volume_name}" {reason}'
