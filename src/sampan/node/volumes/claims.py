"""Claims: volumes of PersistentVolumeClaims that need no driver.

Source: kubernetes pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go, component-helpers
storage/ephemeral/ephemeral.go (1.36).
"""

from dataclasses import dataclass
from pathlib import Path

from sampan.node.references import Claim, Missing, PersistentVolume, References
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import Volume


@dataclass(frozen=True, slots=True)
class ClaimedPath:
    """Path of the node that is bound to a claim."""

    path: Path
    type: str
    """Type of a hostPath, which the path must have."""
    is_local: bool


async def bound_volume(pod: Pod, volume: Volume, references: References) -> tuple[Claim, PersistentVolume]:
    """Return a volume's claim, and the PersistentVolume to which it is bound. Raises `Missing`, `Unreadable`."""
    claim = await _claim(pod, volume, references)
    name = claim.metadata.name
    if claim.status.get("phase") != "Bound" or not claim.spec.volume_name:
        raise Missing(f'PVC "{name}" is not bound')
    found = await references.persistent_volume(claim.spec.volume_name)
    if found.spec.claim_ref.get("uid") not in (None, claim.metadata.uid):
        raise Missing(f'PV "{claim.spec.volume_name}" is bound to another PVC than "{name}"')
    return claim, found


def claimed_path(claim: Claim, found: PersistentVolume) -> ClaimedPath:
    """Return the path of a volume that needs no driver. Raises `ValueError` for any other volume."""
    if claim.spec.volume_mode != "Filesystem":
        raise ValueError(f'PVC "{claim.metadata.name}" has volumeMode Block, which this node does not support')
    if found.spec.host_path is not None:
        return ClaimedPath(Path(found.spec.host_path.path), found.spec.host_path.type, is_local=False)
    if found.spec.local is not None:
        return ClaimedPath(Path(found.spec.local.path), "", is_local=True)
    raise ValueError(f'no volume plugin matched PV "{found.metadata.name}"')


async def _claim(pod: Pod, volume: Volume, references: References) -> Claim:
    namespace = pod.metadata.namespace
    if volume.persistent_volume_claim is not None:
        return await references.claim(namespace, volume.persistent_volume_claim.claim_name)
    name = f"{pod.metadata.name}-{volume.name}"
    claim = await references.claim(namespace, name)
    if not any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references):
        raise ValueError(
            f"PVC {namespace}/{name} was not created for pod {namespace}/{pod.metadata.name} (pod is not owner)"
        )
    return claim
