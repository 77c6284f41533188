"""`give_to_group`: lets a Pod's fsGroup own a volume. Source: kubernetes pkg/volume/volume_linux.go (1.36)."""

import os
import stat
from pathlib import Path
from typing import Final

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

    `only_on_mismatch`: leave the files unchanged if the directory of the volume has the right group and mode.
    """
    if os.geteuid() != 0:
        return
    root = os.path.realpath(path)
    if only_on_mismatch and _has_group(root, group):
        return
    # The directory of the volume is last, so that an interrupted run is repeated.
    for directory, names, files in os.walk(root, topdown=False):
        for name in (*files, *(each for each in names if os.path.islink(os.path.join(directory, each)))):
            _give(os.path.join(directory, name), group)
        _give(directory, group)


def _has_group(path: str, group: int) -> bool:
    found = os.stat(path)
    desired = _ANY_MODE | _DIRECTORY_MODE
    return found.st_gid == group and found.st_mode & desired == desired


def _give(path: str, group: int) -> None:
    found = os.lstat(path)
    os.chown(path, -1, group, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        return
    mode = stat.S_IMODE(found.st_mode) | _ANY_MODE | (_DIRECTORY_MODE if stat.S_ISDIR(found.st_mode) else 0)
    os.chmod(path, mode)
