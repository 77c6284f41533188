"""`mount_local`: the directory of a bound volume, for a Pod."""

import asyncio
from typing import Final

from sampan.component_base.local_path import DRIVER, NODE, PROVISIONED_BY, PROVISIONER, capacity_bytes
from sampan.node.local_path.directories import LocalDirectories
from sampan.node.references import Claim, PersistentVolume
from sampan.node.views.pod import Pod
from sampan.node.volumes.mounts import MountedVolume
from sampan.node.volumes.ownership import give_to_group

_OWN_GROUP_ONLY_ON_MISMATCH: Final = "OnRootMismatch"


def is_local(volume: PersistentVolume) -> bool:
    """Return whether a volume is a directory of a node."""
    return volume.spec.csi is not None and volume.spec.csi.driver == DRIVER


async def mount_local(
    pod: Pod, claim: Claim, volume: PersistentVolume, directories: LocalDirectories, *, read_only: bool
) -> MountedVolume:
    """Return the directory of a volume, owned by the Pod's fsGroup. Raises `ValueError`, `OSError`."""
    source, name = volume.spec.csi, volume.metadata.name
    if source is None or volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
        raise ValueError(f'PV "{name}" was not created by {PROVISIONER}')
    if source.volume_attributes.get(NODE) != pod.spec.node_name:
        raise ValueError(f'PV "{name}" is a directory of node "{source.volume_attributes.get(NODE, "")}"')
    if claim.spec.volume_mode != "Filesystem":
        raise ValueError(f'PVC "{claim.metadata.name}" has volumeMode Block, but its volume is a directory')
    size = capacity_bytes(volume.spec.capacity)
    path = await asyncio.to_thread(directories.prepare, volume.metadata.uid, size)
    security = pod.spec.security_context
    if security.fs_group is not None and not read_only:
        only_on_mismatch = security.fs_group_change_policy == _OWN_GROUP_ONLY_ON_MISMATCH
        await asyncio.to_thread(give_to_group, path, security.fs_group, only_on_mismatch=only_on_mismatch)
    return MountedVolume(path, read_only=read_only)
