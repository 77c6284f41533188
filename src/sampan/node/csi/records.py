"""`Records`: used volumes on disk, so that the next agent can unmount them if this agent was killed.

A record is written before the driver is called, and deleted after the driver has undone the call. The files have the
kubelet's format.
Source: kubernetes pkg/volume/csi/csi_util.go `saveVolumeData` (1.36).
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sampan.node.csi.paths import DATA_FILE, CsiPaths
from sampan.node.volumes.csi import CsiVolume


class VolumeData(msgspec.Struct, rename="camel", omit_defaults=True):
    """Content of a data file."""

    volume_handle: str
    driver_name: str
    spec_vol_id: str = msgspec.field(name="specVolID", default="")
    node_name: str = ""
    attachment_id: str = msgspec.field(name="attachmentID", default="")
    """Name of the VolumeAttachment; empty for a volume that is not attached."""
    volume_lifecycle_mode: str = "Persistent"


@dataclass(frozen=True, slots=True)
class Staged:
    """Volume that a driver may have staged."""

    data: VolumeData
    directory: Path
    """Directory of its data file."""
    path: Path
    is_block: bool

    @property
    def key(self) -> tuple[str, str]:
        """Driver and handle."""
        return self.data.driver_name, self.data.volume_handle


@dataclass(frozen=True, slots=True)
class Published:
    """Volume that a driver may have published for a Pod."""

    data: VolumeData
    uid: str
    spec_name: str
    is_block: bool

    @property
    def key(self) -> tuple[str, str]:
        """Driver and handle."""
        return self.data.driver_name, self.data.volume_handle


class Records:
    """Records of one node."""

    def __init__(self, paths: CsiPaths, node: str) -> None:
        self._paths = paths
        self._node = node

    def add_staged(self, volume: CsiVolume, attachment: str) -> None:
        """Record that a volume is about to be staged, and make the directory for it. Raises `OSError`."""
        path = self._paths.staging_path(volume)
        path.mkdir(mode=0o750, parents=True, exist_ok=True)
        _write(self._paths.stage_data(volume), self._data(volume, attachment))

    def drop_staged(self, staged: Staged) -> None:
        """Delete the record of a volume that is not staged. Raises `OSError` if it is still mounted."""
        _remove_mount_point(staged.path)
        (staged.directory / DATA_FILE).unlink(missing_ok=True)
        for path in (staged.directory, staged.directory.parent) if staged.is_block else (staged.directory,):
            with suppress(OSError):
                path.rmdir()

    def add_published(self, volume: CsiVolume, attachment: str) -> None:
        """Record that a volume is about to be published, and make the parent of its target. Raises `OSError`."""
        uid, name = volume.pod.metadata.uid, volume.spec_name
        target = self._paths.target(uid, name, is_block=volume.is_block)
        target.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        data = self._data(volume, attachment)
        if not volume.is_block:
            _write(target.parent, data)
            return
        _write(self._paths.device_data(name), data)
        link = self._paths.links(uid) / name
        link.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(target)

    def drop_published(self, published: Published) -> None:
        """Delete the record of a volume that is not published. Raises `OSError` if it is still mounted."""
        uid, name = published.uid, published.spec_name
        target = self._paths.target(uid, name, is_block=published.is_block)
        _remove_mount_point(target)
        if published.is_block:
            (self._paths.links(uid) / name).unlink(missing_ok=True)
            empty = (target.parent, self._paths.links(uid), self._paths.links(uid).parent)
        else:
            (target.parent / DATA_FILE).unlink(missing_ok=True)
            empty = (target.parent, self._paths.volumes(uid), self._paths.volumes(uid).parent)
        for path in (*empty, self._paths.root / "pods" / uid):
            with suppress(OSError):
                path.rmdir()

    def published(self, uid: str = "*") -> Iterator[Published]:
        """Yield the recorded volumes of a Pod, or of all Pods."""
        for path in self._paths.root.glob(f"pods/{uid}/volumes/{self._paths.volumes('').name}/*/{DATA_FILE}"):
            data = _read(path)
            if data is not None:
                yield Published(data, path.parents[3].name, path.parent.name, is_block=False)
        for link in self._paths.root.glob(f"pods/{uid}/volumeDevices/{self._paths.links('').name}/*"):
            data = _read(self._paths.device_data(link.name) / DATA_FILE)
            if data is not None:
                yield Published(data, link.parents[2].name, link.name, is_block=True)

    def staged(self) -> Iterator[Staged]:
        """Yield all volumes that may be staged."""
        for path in self._paths.plugin.glob(f"*/*/{DATA_FILE}"):
            data = _read(path)
            if data is not None:
                yield Staged(data, path.parent, path.parent / "globalmount", is_block=False)
        for path in self._paths.devices.glob(f"*/data/{DATA_FILE}"):
            data = _read(path)
            if data is not None:
                staging = self._paths.devices / "staging" / path.parents[1].name
                yield Staged(data, path.parent, staging, is_block=True)

    def _data(self, volume: CsiVolume, attachment: str) -> VolumeData:
        mode = "Ephemeral" if volume.is_inline else "Persistent"
        return VolumeData(volume.handle, volume.driver, volume.spec_name, self._node, attachment, mode)


def _write(directory: Path, data: VolumeData) -> None:
    directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    new = directory / f"{DATA_FILE}.new"
    new.write_bytes(msgspec.json.encode(data))
    new.rename(directory / DATA_FILE)


def _read(path: Path) -> VolumeData | None:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, ValueError):
        return None


def _remove_mount_point(path: Path) -> None:
    """Remove an empty directory or a file. Never deletes the content of a directory."""
    if os.path.ismount(path):
        raise OSError(f"{path} is still mounted")
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        path.rmdir()


_decoder = msgspec.json.Decoder(VolumeData)
