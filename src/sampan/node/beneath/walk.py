"""`walk`: everything below a directory, while containers change it.

It has one directory open at a time, so a deep tree does not exhaust the descriptors of the agent. On the way back, it
opens `..` and compares it with the directory that it came from: a directory may have been moved meanwhile.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from sampan.node.beneath.opening import OWN, link_to, open_beneath, opened

_OPEN: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALL: Final = 0o700


@dataclass(frozen=True, slots=True)
class Found:
    """File or directory. Valid until the next step of the iterator."""

    directory: int
    """Descriptor of the directory that has the entry."""
    name: str
    status: os.stat_result
    """Status of the entry itself, if it is a link."""

    @property
    def is_directory(self) -> bool:
        """True for a directory, false for a link to one."""
        return stat.S_ISDIR(self.status.st_mode)


@dataclass(slots=True)
class _Level:
    """Directory on the way from the top to the open one."""

    name: str
    status: os.stat_result
    waiting: list[str] = field(default_factory=list)
    """Names of directories in it that were not entered yet."""


def walk(top: int, *, unlock: bool = False) -> Iterator[Found]:
    """Yield everything below a directory, each directory after its entries. Blocks.

    Links are not followed, and mount points are yielded but not entered. Entries that disappear are left out.
    `unlock`: get access to directories without permissions, which matters for an agent that is not root.
    Raises `OSError`, with ESTALE if a directory was moved during the walk.
    """
    fd = os.open(".", _OPEN, dir_fd=top)
    levels = [_Level("", os.fstat(fd))]
    try:
        yield from _files(fd, levels[-1])
        while True:
            level = levels[-1]
            if level.waiting:
                name = level.waiting.pop()
                inner = enter(fd, name, unlock=unlock)
                if inner is not None:
                    os.close(fd)
                    fd = inner
                    levels.append(_Level(name, os.fstat(fd)))
                    yield from _files(fd, levels[-1])
                else:
                    with suppress(OSError):
                        yield Found(fd, name, os.stat(name, dir_fd=fd, follow_symlinks=False))
                continue
            levels.pop()
            if not levels:
                return
            fd = _leave(fd, levels[-1])
            yield Found(fd, level.name, level.status)
    finally:
        os.close(fd)


def _files(fd: int, level: _Level) -> Iterator[Found]:
    """Yield the entries of a directory that are not directories, and collect the names of the directories."""
    with os.scandir(fd) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    level.waiting.append(entry.name)
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield Found(fd, entry.name, status)


def enter(fd: int, name: str, *, unlock: bool) -> int | None:
    """Open a directory in another one; None if it is a mount point, a link by now, or cannot be opened.

    `unlock`: as for `walk`.
    """
    try:
        return _opened(fd, name, unlock=unlock)
    except PermissionError:
        if not unlock:
            return None
    except OSError:
        return None
    with suppress(OSError):
        with opened(os.open(name, OWN | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)) as own:
            os.chmod(link_to(own), _ALL)
        return _opened(fd, name, unlock=unlock)
    return None


def _opened(fd: int, name: str, *, unlock: bool) -> int:
    inner = open_beneath(fd, name, _OPEN, links=False, mounts=False)
    if unlock and stat.S_IMODE(os.fstat(inner).st_mode) & _ALL != _ALL:
        with suppress(OSError):
            os.fchmod(inner, _ALL)
    return inner


def _leave(fd: int, level: _Level) -> int:
    """Return the descriptor of the directory above, and close the one of the directory itself."""
    above = os.open("..", _OPEN, dir_fd=fd)
    if not os.path.samestat(os.fstat(above), level.status):
        os.close(above)
        raise OSError(errno.ESTALE, "a directory was moved", level.name)
    os.close(fd)
    return above
