"""System calls that Python does not have: openat2, mount, umount2.

All functions raise `OSError`.
"""

import ctypes
import errno
import os
from functools import cache
from typing import Final

NO_MOUNTS: Final = 1
NO_MAGIC_LINKS: Final = 2
NO_LINKS: Final = 4
BENEATH: Final = 8
"""Flags of openat2 that restrict the resolution of a path."""
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_BIND: Final = 4096
MNT_DETACH: Final = 2
UMOUNT_NOFOLLOW: Final = 8
_OPENAT2: Final = 437
"""Number of the system call on all architectures."""
_CURRENT_DIRECTORY: Final = -100
_ATTEMPTS_MAX: Final = 128
"""A rename anywhere on the machine can make one attempt fail with EAGAIN."""

# Python has no function to mount, and a process of `mount` would take milliseconds for each volume.
_libc = ctypes.CDLL(None, use_errno=True)


def openat2(directory: int, path: str, flags: int, resolve: int) -> int:
    """Open a path, relative to a directory, and return its descriptor."""
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, 0, resolve)
    for _ in range(_ATTEMPTS_MAX):
        found: int = _libc.syscall(_OPENAT2, directory, os.fsencode(path), how, ctypes.sizeof(how))
        if found >= 0:
            return found
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)


@cache
def has_openat2() -> bool:
    """Return whether openat2 works: Linux has it since 5.6, but a seccomp profile may refuse it."""
    try:
        os.close(openat2(_CURRENT_DIRECTORY, "/", os.O_PATH, NO_MAGIC_LINKS))
    except OSError:
        return False
    return True


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or with `MS_BIND` a directory or file."""
    words = [os.fsencode(text) for text in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(options) or None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def umount(target: str, flags: int) -> None:
    """Unmount the newest mount at a path."""
    if _libc.umount2(os.fsencode(target), flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)
