"""Paths of the node as volumes, and checks of their types.

Source: kubernetes pkg/volume/hostpath/host_path.go `checkType` (1.36).
"""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sampan.node.beneath import make_directories, opened

_CHECKS: Final[dict[str, tuple[Callable[[int], bool], str]]] = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def prepare_host_path(path: Path, type: str, *, new_mode: int = 0o755) -> None:
    """Check the type of a path, or create it. Raises `OSError`, and `ValueError` for the wrong type.

    Without a type, a missing path becomes a directory, as container runtimes do. `new_mode`: mode of a new directory.
    Links are followed, as for every hostPath. What is created and checked is a descriptor, so that a path below
    another volume cannot change in between.
    """
    fd = _opened(path)
    if fd is None and type in ("", "DirectoryOrCreate"):
        fd = _new_directory(path, new_mode)
    elif fd is None and type == "FileOrCreate":
        fd = _new_file(path)
    if fd is None:
        raise _wrong(path, type)
    with opened(fd):
        if type and not _is_right(type, os.fstat(fd).st_mode):
            raise _wrong(path, type)


def _opened(path: Path) -> int | None:
    """Return a descriptor of a path; None if nothing is there."""
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _new_directory(path: Path, mode: int) -> int:
    for above in path.absolute().parents:
        fd = _opened(above)
        if fd is not None:
            with opened(fd):
                return make_directories(fd, str(path.absolute().relative_to(above)), mode)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _new_file(path: Path) -> int:
    with opened(os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as parent:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(path.name, flags, 0o644, dir_fd=parent)


def _is_right(type: str, mode: int) -> bool:
    check = _CHECKS.get(type.removesuffix("OrCreate"))
    return check is not None and check[0](mode)


def _wrong(path: Path, type: str) -> ValueError:
    found = _CHECKS.get(type.removesuffix("OrCreate"))
    if found is None:
        return ValueError(f"{type} is an invalid volume type")
    return ValueError(f"hostPath type check failed: {path} is not {found[1]}")
