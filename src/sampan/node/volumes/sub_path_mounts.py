"""`SubPathMounts`: parts of volumes (`subPath`), at paths that containers cannot change.

A container can replace a directory of a volume by a link to any path of the node. It can do so between the check of a
part and its mount. So a part is opened once, below its volume. Creation, copies and the mount at a path of the agent
use the descriptor. The runtime gets that path.
Source: kubernetes pkg/volume/util/subpath/subpath_linux.go (1.36). Runtimes see the mounts because they share the
agent's mount namespace, as they do for volumes in memory.
"""

import logging
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.node.beneath import (
    bind,
    is_directory,
    link_to,
    make_directories,
    open_beneath,
    open_directory,
    opened,
    remove_tree,
    walk,
)

Identity = tuple[int, int]
"""Device and inode of a file."""

_log = logging.getLogger("sampan.node")


class PartError(Exception):
    """A part of a volume cannot be mounted. The cause is logged, because it can contain paths of the node."""


@dataclass(frozen=True, slots=True)
class SubPathMounts:
    """Parts of volumes of one Pod."""

    directory: Path
    """Directory of the Pod that no container reaches."""
    binds: bool = False
    """Mount each part in the directory. If not, what mounts a part compares its identity."""

    def of_written(self, volume: Path, sub_path: str, *, place: str) -> Path:
        """Return a copy of a part of a volume that the agent writes. It stays unchanged when the volume changes.

        `place`: relative path, such as the name of the container and the position of the mount. Blocks. Raises
        `PartError`.
        """
        copy = self.directory / place
        try:
            with opened(open_directory(volume)) as root, opened(open_beneath(root, sub_path)) as part:
                remove_tree(copy)
                copy.parent.mkdir(parents=True, exist_ok=True)
                _copy(part, copy)
        except OSError as error:
            raise _failed(volume, sub_path, error) from error
        return copy

    def of_volume(self, volume: Path, sub_path: str, *, place: str) -> tuple[Path, Identity | None]:
        """Return the path of a part of a volume, which is created if it is missing.

        The identity is None if the path belongs to the agent. `place`: as for `of_written`. Blocks. Raises `PartError`.
        """
        try:
            with opened(open_directory(volume)) as root, opened(_made(root, sub_path)) as part:
                if not self.binds:
                    found = os.fstat(part)
                    return Path(os.readlink(link_to(part))), (found.st_dev, found.st_ino)
                bind(part, self.directory / place)
                return self.directory / place, None
        except OSError as error:
            raise _failed(volume, sub_path, error) from error


def _failed(volume: Path, sub_path: str, error: OSError) -> PartError:
    _log.warning("cannot mount a part of a volume: %s", error, extra={"volume": str(volume), "part": sub_path})
    return PartError(sub_path)


def _made(root: int, sub_path: str) -> int:
    """Return the descriptor of a part. A directory with the mode of the volume is created if it is missing."""
    try:
        return open_beneath(root, sub_path)
    except FileNotFoundError:
        return make_directories(root, sub_path, stat.S_IMODE(os.fstat(root).st_mode))


_COPIED: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def _copy(part: int, copy: Path) -> None:
    """Copy a file, or a directory with files, with modes and owners."""
    if not is_directory(part):
        _copy_file(os.open(link_to(part), os.O_RDONLY | os.O_NONBLOCK), copy)
        return
    copy.mkdir()
    with opened(os.open(link_to(part), os.O_RDONLY | os.O_DIRECTORY)) as top:
        start = os.readlink(link_to(top))
        for each in walk(top):
            place = copy / os.path.relpath(os.readlink(link_to(each.directory)), start) / each.name
            if each.is_directory:
                place.mkdir(parents=True, exist_ok=True)
                _take_over(place, each.status)
            elif stat.S_ISREG(each.status.st_mode):
                place.parent.mkdir(parents=True, exist_ok=True)
                _copy_file(os.open(each.name, _COPIED, dir_fd=each.directory), place)
    _take_over(copy, os.fstat(part))


def _copy_file(source: int, copy: Path) -> None:
    with open(source, "rb") as read, copy.open("wb") as written:
        shutil.copyfileobj(read, written)
        _take_over(copy, os.fstat(source))


def _take_over(copy: Path, status: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(copy, status.st_uid, status.st_gid)
    copy.chmod(stat.S_IMODE(status.st_mode))
