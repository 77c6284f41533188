"""Descriptors of directories and files below a directory. The caller closes each descriptor.

All functions raise `OSError`: EXDEV for a path that leaves the directory, ELOOP for a link that must not be followed.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from sampan.node.beneath.system_calls import BENEATH, NO_LINKS, NO_MAGIC_LINKS, NO_MOUNTS, has_openat2, openat2

OWN: Final = os.O_PATH | os.O_NOFOLLOW
"""Flags for a descriptor that identifies a file without opening it, so that devices and pipes have no effect."""
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY
_LINKS_MAX: Final = 40
_DEPTH_MAX: Final = 256


@contextmanager
def opened(fd: int) -> Iterator[int]:
    """Close a descriptor at the end of a block."""
    try:
        yield fd
    finally:
        os.close(fd)


def open_directory(path: Path | str) -> int:
    """Open a directory at a path that no container can change. Follows links."""
    return os.open(path, _DIRECTORY | os.O_CLOEXEC)


def link_to(fd: int) -> str:
    """Return a path for a descriptor. It always leads to the open file, wherever its name is by now."""
    return f"/proc/self/fd/{fd}"


def is_directory(fd: int) -> bool:
    """Return whether a descriptor is that of a directory."""
    return stat.S_ISDIR(os.fstat(fd).st_mode)


def open_beneath(root: int, path: str, flags: int = os.O_PATH, *, links: bool = True, mounts: bool = True) -> int:
    """Open a path below a directory. It never leads out of it, even if it changes during the call.

    `links`: follow links that stay below the directory. An absolute link never does.
    `mounts`: enter file systems and directories that are mounted below the directory.
    """
    if not has_openat2():
        return _open_by_components(root, path, flags, links=links, mounts=mounts)
    resolve = BENEATH | NO_MAGIC_LINKS | (0 if links else NO_LINKS) | (0 if mounts else NO_MOUNTS)
    return openat2(root, path or ".", flags, resolve)


def make_directories(root: int, path: str, mode: int) -> int:
    """Return a descriptor (`O_PATH`) of a path below a directory, after making the missing directories.

    The last one has exactly this mode, its new parents have at most it. Existing links below the directory are
    followed; a component that is created at the same time by a container must be a directory.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    fd, missing = _longest_existing(root, parts)
    for position, part in enumerate(missing):
        with opened(fd):
            is_own = True
            try:
                os.mkdir(part, mode, dir_fd=fd)
            except FileExistsError:
                is_own = False
            fd = os.open(part, _DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        if is_own and position == len(missing) - 1:
            _set_mode(fd, mode)
    return fd


def _set_mode(fd: int, mode: int) -> None:
    try:
        os.fchmod(fd, mode)  # The umask has restricted the mode.
    except OSError:
        os.close(fd)
        raise


def _longest_existing(root: int, parts: list[str]) -> tuple[int, list[str]]:
    """Return the descriptor of the longest existing part of a path, and the other components."""
    for count in range(len(parts), 0, -1):
        try:
            return open_beneath(root, "/".join(parts[:count])), parts[count:]
        except FileNotFoundError:
            continue
    return os.dup(root), parts


def open_file(path: Path | str, *, directory: int | None = None) -> BinaryIO:
    """Open a regular file to read it. Does not follow a link in the last component, nor wait for a pipe."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    return _regular(fd, str(path))


def _regular(fd: int, path: str) -> BinaryIO:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return os.fdopen(fd, "rb")


def open_log(path: Path) -> BinaryIO:
    """Open a log file of a container: its path is `<logs>/<pod>/<container>/<file>`.

    A Pod with a hostPath of the directory of logs can replace each of these three by a link.
    """
    logs = path.parents[2]
    with opened(open_directory(logs)) as root:
        flags = os.O_RDONLY | os.O_NONBLOCK
        fd = open_beneath(root, str(path.relative_to(logs)), flags, links=False)
    return _regular(fd, str(path))


def _open_by_components(root: int, path: str, flags: int, *, links: bool, mounts: bool) -> int:
    """Open a path without openat2: each component with O_NOFOLLOW, and the text of links as more components."""
    waiting = path.split("/")[::-1]
    place = [os.dup(root)]
    own_mount = _mount_id(root)
    followed = 0
    try:
        while waiting:
            part = waiting.pop()
            if part in ("", "."):
                continue
            if part == "..":
                os.close(place.pop())
            if not place or len(place) > _DEPTH_MAX:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
            if part == "..":
                continue
            place.append(os.open(part, OWN | os.O_CLOEXEC, dir_fd=place[-1]))
            if not mounts and _mount_id(place[-1]) != own_mount:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
            if not stat.S_ISLNK(os.fstat(place[-1]).st_mode):
                continue
            followed += 1
            if not links or followed > _LINKS_MAX:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            with opened(place.pop()) as link:
                target = os.readlink("", dir_fd=link)
            if target.startswith("/"):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
            waiting += target.split("/")[::-1]
        return os.open(link_to(place[-1]), flags & ~os.O_NOFOLLOW | os.O_CLOEXEC)
    finally:
        for fd in place:
            os.close(fd)


def _mount_id(fd: int) -> str:
    lines = Path(f"/proc/self/fdinfo/{fd}").read_text().splitlines()
    return next(line for line in lines if line.startswith("mnt_id:"))
