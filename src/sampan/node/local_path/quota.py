"""Project quotas: limits for the files of a directory, on ext4 and XFS that are mounted with `prjquota`.

Each directory has a project ID, which new files and directories in it inherit. The kernel counts the files of a project
and refuses more than the limit. Where it has no project quotas, the functions do nothing.

Source: quotactl(2), quotactl_fd(2) of Linux 5.14, include/uapi/linux/fs.h.
"""

import ctypes
import errno
import fcntl
import logging
import os
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_QUOTACTL_FD: Final = 443
"""Number of the system call on all architectures."""
_PROJECTS: Final = 2
_GET: Final = 0x800007 << 8 | _PROJECTS
_SET: Final = 0x800008 << 8 | _PROJECTS
_LIMITS: Final = struct.Struct("=8QIxxxx")
"""Limits and use: hard and soft limit of blocks, bytes, hard and soft limit of files, files, two times, fields."""
_BLOCKS_VALID: Final = 1
_BLOCK_BYTES: Final = 1024
_GET_ATTRIBUTES: Final = 0x801C581F
_SET_ATTRIBUTES: Final = 0x401C5820
_ATTRIBUTES: Final = struct.Struct("=5I8s")
"""Flags, extent size, extents, project ID, copy-on-write extent size of a file."""
_INHERITED: Final = 0x200
FIRST: Final = 1 << 20
COUNT: Final = 1 << 30
"""Project IDs for volumes. Administrators number their own projects from 1."""
ATTEMPTS_MAX: Final = 1024
_UNAVAILABLE: Final = frozenset(
    {errno.ENOSYS, errno.ESRCH, errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL}
)
"""Errors without project quotas: of the kernel, the file system, its mount options, or the rights of the agent."""

_log = logging.getLogger("sampan.node")
_libc = ctypes.CDLL(None, use_errno=True)


class Project:
    """Project of a directory."""

    def __init__(self, number: int) -> None:
        self._number = number

    def forget(self, fd: int) -> None:
        """Remove the limit, so that the number is free again. `fd`: a directory of the same file system."""
        with suppress(OSError):
            _set_limit(fd, self._number, 0)


def free_number(uid: str, is_used: Callable[[int], bool]) -> int | None:
    """Return a free project ID for the UID of a volume; None if many neighbours are in use.

    It begins at a number that depends on the UID, so that two nodes with one file system rarely choose the same.
    """
    start = zlib.crc32(uid.encode()) % COUNT
    candidates = (FIRST + (start + step) % COUNT for step in range(ATTEMPTS_MAX))
    return next((number for number in candidates if not is_used(number)), None)


def assign(fd: int, uid: str) -> bool:
    """Give an empty directory a project. Returns False if there are no project quotas, so that it gets no limit."""
    try:
        number = free_number(uid, lambda number: _is_used(fd, number))
        if number is not None:
            flags, extent, extents, _, shared = _attributes(fd)
            changed = _ATTRIBUTES.pack(flags | _INHERITED, extent, extents, number, shared, bytes(8))
            fcntl.ioctl(fd, _SET_ATTRIBUTES, changed)
    except OSError as error:
        _report(error)
        return False
    return number is not None


def limit(fd: int, size_bytes: int) -> None:
    """Limit the files of a directory that has a project; 0: no limit."""
    with suppress(OSError):
        number = _number_of(fd)
        if number:
            _set_limit(fd, number, size_bytes)


def release(fd: int) -> Project | None:
    """Return the project of a directory that is deleted next; None if it has none."""
    with suppress(OSError):
        number = _number_of(fd)
        return Project(number) if number else None
    return None


def _number_of(fd: int) -> int:
    """Return the project ID of a directory; 0 unless it is one of a volume."""
    number = _attributes(fd)[3]
    return number if FIRST <= number < FIRST + COUNT else 0


def _attributes(fd: int) -> tuple[int, int, int, int, int]:
    flags, extent, extents, project, shared, _ = _ATTRIBUTES.unpack(
        fcntl.ioctl(fd, _GET_ATTRIBUTES, bytes(_ATTRIBUTES.size))
    )
    return flags, extent, extents, project, shared


def _is_used(fd: int, number: int) -> bool:
    """Return whether a project has files or a limit. Raises `OSError` without project quotas."""
    found = ctypes.create_string_buffer(_LIMITS.size)
    try:
        _quotactl(fd, _GET, number, found)
    except FileNotFoundError:
        return False
    return any(_LIMITS.unpack(found.raw)[:6])


def _set_limit(fd: int, number: int, size_bytes: int) -> None:
    blocks = -(-size_bytes // _BLOCK_BYTES)
    desired = _LIMITS.pack(blocks, blocks, 0, 0, 0, 0, 0, 0, _BLOCKS_VALID)
    _quotactl(fd, _SET, number, ctypes.create_string_buffer(desired, _LIMITS.size))


def _quotactl(fd: int, command: int, number: int, data: "ctypes.Array[ctypes.c_char]") -> None:
    if _libc.syscall(_QUOTACTL_FD, ctypes.c_int(fd), ctypes.c_uint(command), ctypes.c_uint(number), data) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _report(error: OSError) -> None:
    """Log an error that no missing feature explains. The volume then has no limit."""
    if error.errno not in _UNAVAILABLE:
        _log.warning("cannot limit the size of a volume: %s", error)
