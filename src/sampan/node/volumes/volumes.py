"""`Volumes`: mounts the volumes of Pods, updates their files, and removes them with their Pod.

A volume is a directory `<root>/pods/<uid>/volumes/kubernetes.io~<plugin>/<name>`, or a path of the node. Files that the
agent writes, and emptyDirs with medium Memory, are in memory (`node/tmpfs.py`) if possible. All methods can be repeated
after any failure, even by another process after a restart.
Source: kubernetes pkg/kubelet/volumemanager, pkg/volume (1.36).
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sampan.core.numbers.quantity import parse
from sampan.core.time import Clock
from sampan.node.beneath import detach_all_below
from sampan.node.environment.fields import PodPlace
from sampan.node.local_path.directories import LocalDirectories
from sampan.node.references import Missing, References, Unreadable
from sampan.node.tasks import Tasks
from sampan.node.tmpfs import TmpfsMounts
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import EmptyDir, ImageVolumeSource, Volume
from sampan.node.volumes.atomic_writer import write_files
from sampan.node.volumes.claims import bound_volume, claimed_path
from sampan.node.volumes.csi import CsiPort, CsiVolume, VolumeFault, claimed, inline
from sampan.node.volumes.followers import Followers, Reference, references_of
from sampan.node.volumes.host_path import prepare_host_path
from sampan.node.volumes.local_path import is_local, mount_local
from sampan.node.volumes.mounts import MountedVolume
from sampan.node.volumes.payload import Payloads
from sampan.node.volumes.removal import PARTS, detach_parts, remove_volumes
from sampan.node.volumes.sub_path_mounts import SubPathMounts
from sampan.node.volumes.tokens import Tokens

FAULTS: Final = (VolumeFault, Missing, Unreadable, ValueError, OSError)


class MountFailed(Exception):
    """Some volumes cannot be mounted yet. `faults`: reasons by volume name."""

    def __init__(self, faults: Mapping[str, Exception]) -> None:
        super().__init__("; ".join(map(str, faults.values())))
        self.faults = faults


@dataclass(slots=True)
class _Known:
    """Volumes of one Pod."""

    key: str
    mounted: dict[str, MountedVolume] = field(default_factory=dict)
    is_fresh: bool = False
    """True if nothing has changed since the files were written."""
    shown: tuple[object, ...] = ()
    """Fields of the Pod that may be contained in its files."""
    renew_at: float | None = None
    """Time at which a token must be renewed, or a driver publishes its volume again, in seconds since 1970."""
    of_drivers: set[str] = field(default_factory=set)
    """Names of volumes that CSI drivers mount."""

    def renew(self, at: float | None) -> None:
        """Set the next renewal to this time, unless it is earlier already."""
        if at is not None:
            self.renew_at = at if self.renew_at is None else min(at, self.renew_at)


class Volumes:
    """Volumes of all Pods of this process."""

    def __init__(
        self,
        root: Path,
        references: References,
        *,
        tasks: Tasks,
        clock: Clock,
        memory: TmpfsMounts,
        changed: Callable[[str], None],
        csi: CsiPort | None = None,
        has_devices: bool = False,
        binds: bool = False,
    ) -> None:
        """`root`: directory of the runtime, which has a directory for each Pod. `memory`: mounts for volumes in memory.

        `csi`: mounts volumes of drivers. `has_devices`: containers can get block devices, and files of images.
        `binds`: the runtime mounts paths, and does not check what is there by then.
        `changed` is called with a Pod's key when files of its volumes must be written again.
        """
        self._root = root.absolute()
        self._local = LocalDirectories(root)
        self._memory = memory
        self._csi = csi
        self._has_devices = has_devices
        self._binds = binds
        self._references = references
        self._clock = clock
        self._changed = changed
        self._tokens = Tokens(references.client, clock)
        self._payloads = Payloads(references, self._tokens)
        self._followers = Followers(references.client, tasks, self._stale)
        self._known: dict[str, _Known] = {}

    async def mount(self, place: PodPlace) -> Mapping[str, MountedVolume]:
        """Return the mounted volumes that the Pod's containers use, with updated files. Raises `MountFailed`."""
        pod = place.pod
        uid = pod.metadata.uid
        used = _used(pod)
        volumes = [volume for volume in pod.spec.volumes if volume.name in used]
        if not volumes:
            return {}
        known = self._known.setdefault(uid, _Known(pod.key))
        shown = (pod.metadata.labels, pod.metadata.annotations, tuple(place.addresses))
        is_due = known.renew_at is not None and self._clock.now().timestamp() >= known.renew_at
        if known.is_fresh and known.shown == shown and not is_due and len(known.mounted) == len(volumes):
            return known.mounted
        self._follow(pod, volumes)
        if _has_copies(pod):
            self._memory.mount(self._pod(uid) / PARTS)
        known.is_fresh, known.shown, known.renew_at = True, shown, None
        faults = await self._mount_all(place, volumes, known)
        if faults:
            known.is_fresh = False
            raise MountFailed(faults)
        return known.mounted

    def wake_s(self, uid: str) -> float | None:
        """Return the seconds until a token must be renewed."""
        known = self._known.get(uid)
        if known is None or known.renew_at is None:
            return None
        return max(0.1, known.renew_at - self._clock.now().timestamp())

    def sub_paths_of(self, uid: str) -> SubPathMounts:
        """Return the mounts of parts of a Pod's volumes."""
        return SubPathMounts(self._pod(uid) / PARTS, binds=self._binds)

    async def unmount(self, uid: str) -> None:
        """Unmount the volumes of drivers, after the containers of the Pod have ended. Raises `FAULTS`."""
        known = self._known.get(uid)
        if known is not None:
            known.is_fresh = False
        parts = self._pod(uid) / PARTS
        if parts.is_dir():
            # Before the driver's call: a mounted part keeps the volume in use.
            await asyncio.to_thread(detach_all_below, parts)
        if self._csi is not None:
            await self._csi.unmount(uid)

    def recover(self, uids: set[str]) -> None:
        """Unmount the CSI volumes of all other Pods. They have ended while no agent was running."""
        detach_parts(self._root / "pods", uids)
        if self._csi is not None:
            self._csi.recover(uids)

    async def remove(self, uid: str) -> None:
        """Remove the volumes of a Pod that no longer exists, except paths of the node. Raises `FAULTS`."""
        await self.unmount(uid)
        self._known.pop(uid, None)
        self._followers.follow(uid, set())
        self._tokens.forget(uid)
        directory = self._pod(uid)
        if directory.is_dir():
            await asyncio.to_thread(remove_volumes, directory)

    def _pod(self, uid: str) -> Path:
        return self._root / "pods" / uid

    def _follow(self, pod: Pod, volumes: list[Volume]) -> None:
        references: set[Reference] = set()
        for volume in volumes:
            references |= references_of(volume, pod.metadata.namespace)
        self._followers.follow(pod.metadata.uid, references)

    def _stale(self, uid: str) -> None:
        known = self._known.get(uid)
        if known is not None:
            known.is_fresh = False
            self._changed(known.key)

    async def _mount_all(self, place: PodPlace, volumes: list[Volume], known: _Known) -> dict[str, Exception]:
        """Mount as many volumes as possible, and return the reasons for unmounted ones."""
        faults: dict[str, Exception] = {}
        for volume in volumes:
            try:
                known.mounted[volume.name] = await self._mount(place, volume, known)
            except FAULTS as error:
                faults[volume.name] = error
        return faults

    async def _mount(self, place: PodPlace, volume: Volume, known: _Known) -> MountedVolume:
        if volume.empty_dir is not None:
            return self._empty_dir(place, volume, volume.empty_dir)
        if volume.host_path is not None:
            path = Path(volume.host_path.path)
            prepare_host_path(path, volume.host_path.type)
            return MountedVolume(path)
        if volume.image is not None:
            return self._of_image(volume.image)
        if volume.csi is not None:
            return await self._of_driver(inline(place.pod, volume), known)
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return await self._claimed(place.pod, volume, known)
        path = self._directory(place.pod.metadata.uid, _plugin(volume), volume.name)
        files, renew_at = await self._payloads.of_volume(place, volume)
        self._memory.mount(path)
        write_files(path, files, group=place.pod.spec.security_context.fs_group)
        known.renew(renew_at)
        return MountedVolume(path, read_only=True, is_written=True)

    def _empty_dir(self, place: PodPlace, volume: Volume, source: EmptyDir) -> MountedVolume:
        pod = place.pod
        path = self._directory(pod.metadata.uid, "empty-dir", volume.name)
        is_new = not path.is_dir()
        if source.medium == "Memory" and not os.path.ismount(path):
            is_new = True
            self._memory.mount(path, size_bytes=_memory_bytes(place, source))
        if is_new:
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o777)
            group = pod.spec.security_context.fs_group
            if group is not None and os.geteuid() == 0:
                os.chown(path, -1, group)
                path.chmod(0o2777)
        return MountedVolume(path)

    async def _claimed(self, pod: Pod, volume: Volume, known: _Known) -> MountedVolume:
        mounted = known.mounted.get(volume.name)
        if mounted is not None and volume.name not in known.of_drivers:
            return mounted
        claim, bound = await bound_volume(pod, volume, self._references)
        source = volume.persistent_volume_claim
        read_only = source is not None and source.read_only
        if is_local(bound):
            return await mount_local(pod, claim, bound, self._local, read_only=read_only)
        if bound.spec.csi is not None:
            return await self._of_driver(claimed(pod, volume, claim, bound), known)
        found = claimed_path(claim, bound)
        if not found.is_local:
            # No owner fits a new directory, because the next Pod with the claim may run as another user.
            prepare_host_path(found.path, found.type, new_mode=0o777)
        elif not found.path.exists():
            raise Missing(f'path "{found.path}" does not exist')
        return MountedVolume(found.path, read_only=read_only)

    def _of_image(self, source: ImageVolumeSource) -> MountedVolume:
        if not self._has_devices:
            raise ValueError(f'image volume "{source.reference}" needs a node with the runtime cri')
        return MountedVolume(Path(), read_only=True, image=source.reference)

    async def _of_driver(self, volume: CsiVolume, known: _Known) -> MountedVolume:
        if self._csi is None:
            raise ValueError(f'driver "{volume.driver}" is needed, but nodes of this runtime have no CSI drivers')
        if volume.is_block and not self._has_devices:
            name = "" if volume.claim is None else volume.claim.metadata.name
            text = "processes get no block devices: use a node with the runtime cri"
            raise ValueError(f'PVC "{name}" has volumeMode Block: {text}')
        known.of_drivers.add(volume.name)
        mounted = await self._csi.mount(volume)
        known.renew(mounted.due_at)
        return mounted.volume

    def _directory(self, uid: str, plugin: str, name: str) -> Path:
        return self._pod(uid) / "volumes" / f"kubernetes.io~{plugin}" / name


def _plugin(volume: Volume) -> str:
    if volume.config_map is not None:
        return "configmap"
    if volume.secret is not None:
        return "secret"
    return "downward-api" if volume.downward_api is not None else "projected"


def _used(pod: Pod) -> set[str]:
    """Return the names of the volumes that a container mounts, or gets as devices."""
    details = pod.spec
    containers = (*details.containers, *details.init_containers, *details.ephemeral_containers)
    mounts = {mount.name for container in containers for mount in container.volume_mounts}
    return mounts | {device.name for container in containers for device in container.volume_devices}


def _has_copies(pod: Pod) -> bool:
    """Return whether a container mounts a part of a volume that the agent writes; such parts are copied."""
    details = pod.spec
    containers = (*details.containers, *details.init_containers, *details.ephemeral_containers)
    return any(mount.sub_path or mount.sub_path_expr for container in containers for mount in container.volume_mounts)


def _memory_bytes(place: PodPlace, source: EmptyDir) -> int | None:
    """Return the size of an emptyDir in memory: its limit, at most the memory of the node."""
    limits = (source.size_limit, place.allocatable.get("memory"))
    return min((value for limit in limits if limit and (value := parse(str(limit)).value()) > 0), default=None)
