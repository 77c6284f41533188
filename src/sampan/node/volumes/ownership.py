"""`give_to_group`: lets a Pod's fsGroup own a volume. Source: kubernetes pkg/volume/volume_linux.go (1.36)."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath import OWN, link_to, open_directory, opened, walk
from sampan.node.references import CsiDriver
from sampan.node.volumes.csi import CsiVolume

_ANY_MODE: Final = 0o660
_DIRECTORY_MODE: Final = stat.S_ISGID | 0o110


def wants_group(volume: CsiVolume, driver: CsiDriver | None) -> bool:
    """Return whether the fsGroup policy of a driver applies to a volume."""
    policy = "ReadWriteOnceWithFSType" if driver is None else driver.spec.fs_group_policy
    if policy != "ReadWriteOnceWithFSType":
        return policy == "File"
    is_single = any(mode in ("ReadWriteOnce", "ReadWriteOncePod") for mode in volume.access_modes)
    return bool(volume.fs_type) and (volume.is_inline or is_single)


def give_to_group(path: Path, group: int, *, only_on_mismatch: bool = False) -> None:
    """Let a group own all files of a volume, read them and write them. Blocks. Raises `OSError`.

    Other Pods may use the volume at the same time, so each file is changed by its descriptor.
    `only_on_mismatch`: leave the files unchanged if the directory of the volume has the right group and mode.
    """
    if os.geteuid() != 0:
        return
    with opened(open_directory(path)) as top:
        if only_on_mismatch and _has_group(os.fstat(top), group):
            return
        # The directory of the volume is last, so that an interrupted run is repeated.
        for each in walk(top):
            if stat.S_ISLNK(each.status.st_mode):
                with suppress(FileNotFoundError):
                    os.chown(each.name, -1, group, dir_fd=each.directory, follow_symlinks=False)
                continue
            with suppress(FileNotFoundError), opened(os.open(each.name, OWN, dir_fd=each.directory)) as fd:
                _give(fd, group)
        _give(top, group)


def _has_group(found: os.stat_result, group: int) -> bool:
    desired = _ANY_MODE | _DIRECTORY_MODE
    return found.st_gid == group and found.st_mode & desired == desired


def _give(fd: int, group: int) -> None:
    found = os.fstat(fd)
    if stat.S_ISLNK(found.st_mode):
        return  # It was replaced by a link, whose group and mode mean nothing.
    os.chown(link_to(fd), -1, group)
    mode = stat.S_IMODE(found.st_mode) | _ANY_MODE | (_DIRECTORY_MODE if stat.S_ISDIR(found.st_mode) else 0)
    os.chmod(link_to(fd), mode)
