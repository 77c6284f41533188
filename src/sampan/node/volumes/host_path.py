"""Paths of the node as volumes, and checks of their types.

Source: kubernetes pkg/volume/hostpath/host_path.go `checkType` (1.36).
"""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

_CHECKS: Final[dict[str, tuple[Callable[[int], bool], str]]] = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def prepare_host_path(path: Path, type: str) -> None:
    """Check the type of a path, or create it. Raises `OSError`, and `ValueError` for the wrong type.

    Without a type, a missing path becomes a directory, as container runtimes do.
    """
    if type in ("", "DirectoryOrCreate"):
        if not path.exists():
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        elif type:
            _check(path, "Directory")
    elif type == "FileOrCreate":
        if not path.exists():
            path.touch(mode=0o644)
        _check(path, "File")
    else:
        _check(path, type)


def _check(path: Path, type: str) -> None:
    found = _CHECKS.get(type)
    if found is None:
        raise ValueError(f"{type} is an invalid volume type")
    is_right, noun = found
    if not path.exists() or not is_right(path.stat().st_mode):
        raise ValueError(f"hostPath type check failed: {path} is not {noun}")
