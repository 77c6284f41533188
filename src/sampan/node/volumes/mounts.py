"""Mounts of a container: paths of its Pod's volumes, or of parts of them.

Source: kubernetes pkg/kubelet/kubelet_pods.go `makeMounts`, pkg/volume/util/subpath (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from sampan.core.pods.expansion import expand
from sampan.node.sessions import Mount
from sampan.node.views.container import Container, VolumeMount
from sampan.node.volumes.sub_path_mounts import PartError, SubPathMounts


class MountError(Exception):
    """A volume, or a part of it, cannot be mounted. The message is the same as the kubelet's."""


@dataclass(frozen=True, slots=True)
class MountedVolume:
    """Volume that is ready to be mounted."""

    path: Path
    read_only: bool = False
    is_written: bool = False
    """True if the agent writes its files and replaces them when they change."""
    is_device: bool = False
    """True if the path is a block device, which has no files."""
    image: str = ""
    """Image whose files the runtime mounts. In that case there is no path."""


def mounts_of(
    container: Container, volumes: Mapping[str, MountedVolume], env: Mapping[str, str], sub_paths: SubPathMounts
) -> Sequence[Mount]:
    """Return the mounts of a container. Raises `MountError`, `OSError`.

    Blocks, if the container mounts parts of volumes.
    """
    mounts = []
    for number, desired in enumerate(container.volume_mounts):
        volume = volumes.get(desired.name)
        if volume is None:
            raise MountError(f'cannot find volume "{desired.name}" to mount into container "{container.name}"')
        if volume.is_device:
            raise MountError(f'volume "{desired.name}" has volumeMode Block, but is specified in volumeMounts')
        sub_path = _sub_path(desired, env)
        if volume.image:
            mounts.append(Mount(desired.name, "", _absolute(desired.mount_path), True, volume.image, sub_path))
            continue
        read_only = desired.read_only or volume.read_only
        mount = Mount(desired.name, str(volume.path), _absolute(desired.mount_path), read_only)
        if sub_path:
            mount = _part(mount, volume, sub_paths, sub_path, container=container.name, number=number)
        mounts.append(mount)
    return mounts


def devices_of(container: Container, volumes: Mapping[str, MountedVolume]) -> Sequence[Mount]:
    """Return the block devices of a container. Raises `MountError`."""
    devices = []
    for desired in container.volume_devices:
        volume = volumes.get(desired.name)
        if volume is None:
            raise MountError(f'cannot find volume "{desired.name}" to pass into container "{container.name}"')
        if not volume.is_device:
            raise MountError(f'volume "{desired.name}" has volumeMode Filesystem, but is specified in volumeDevices')
        devices.append(Mount(desired.name, str(volume.path), _absolute(desired.device_path), volume.read_only))
    return devices


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _sub_path(desired: VolumeMount, env: Mapping[str, str]) -> str:
    if not desired.sub_path_expr:
        sub_path = desired.sub_path
    else:
        missing: set[str] = set()

        def value_of(name: str) -> str:
            value = env.get(name, "")
            if not value:
                missing.add(name)
            return value

        sub_path = expand(desired.sub_path_expr, value_of)
        if missing:
            raise MountError(f"missing value for {', '.join(sorted(missing))}")
    if sub_path.startswith("/"):
        raise MountError(f"error SubPath `{sub_path}` must not be an absolute path")
    if ".." in PurePosixPath(sub_path).parts:
        raise MountError(f"unable to provision SubPath `{sub_path}`: must not contain '..'")
    return sub_path


def _part(
    mount: Mount, volume: MountedVolume, sub_paths: SubPathMounts, sub_path: str, *, container: str, number: int
) -> Mount:
    """Return the mount of a part of a volume. It is created if it is missing. Links must not lead out of the volume."""
    place = f"{container}/{number}"
    try:
        if volume.is_written:
            return replace(mount, host_path=str(sub_paths.of_written(volume.path, sub_path, place=place)))
        path, identity = sub_paths.of_volume(volume.path, sub_path, place=place)
    except PartError as error:
        text = f'failed to prepare subPath for volumeMount "{mount.name}" of container "{container}"'
        raise MountError(text) from error
    return replace(mount, host_path=str(path), identity=identity)
