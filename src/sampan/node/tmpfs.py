"""`TmpfsMounts`: volumes in memory, so that Secrets and tokens never reach the disk.

Each mount is a tmpfs in the machine's mount namespace, as with the kubelet. The source of all these mounts is a name of
this process. If the agent is killed, the launcher (process/launcher.py) unmounts them by that name. If tmpfs cannot be
mounted (the agent is not root, or may not mount), volumes are plain directories.
Source: kubernetes pkg/volume/emptydir/empty_dir.go (1.36).
"""

import logging
import os
from pathlib import Path
from threading import Lock
from typing import Final

from sampan.node.beneath import detach, remove_tree
from sampan.node.beneath.binds import unescaped
from sampan.node.beneath.system_calls import MS_NODEV, MS_NOSUID, mount

_MOUNT_INFO: Final = "/proc/self/mountinfo"
_NOT_PERMITTED: Final = (1, 13, 19, 38)
"""Errors that mean that tmpfs cannot be mounted: EPERM, EACCES, ENODEV, ENOSYS."""

_log = logging.getLogger("sampan.node")


class TmpfsMounts:
    """The tmpfs mounts below a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._permitted = os.geteuid() == 0
        self._closed = False
        self._lock = Lock()
        self.source = f"sampan-{os.getpid()}"
        """Source name of the mounts of this process."""

    def mount(self, path: Path, *, size_bytes: int | None = None) -> bool:
        """Mount an empty tmpfs at a path, unless one is mounted already. Blocks for some microseconds.

        Returns False if tmpfs cannot be mounted. Raises `OSError`.
        """
        with self._lock:
            if not self._permitted:
                return False
            if self._closed:
                raise OSError("the node agent is shutting down")
            if os.path.ismount(path):
                return True
            remove_tree(path)  # Files below a mount point would stay on the disk.
            path.mkdir(parents=True, exist_ok=True)
            return self._mount(path, size_bytes)

    def unmount_all(self) -> None:
        """Unmount all mounts of this process below the root, and refuse to mount more."""
        with self._lock:
            self._closed = True
            unmount_below(self._root, source=self.source)

    def reset(self) -> None:
        """Before the first mount, unmount the mounts that a killed agent has left."""
        with self._lock:
            self._closed = False
            unmount_below(self._root)

    def _mount(self, path: Path, size_bytes: int | None) -> bool:
        size = "" if size_bytes is None else f",size={size_bytes}"
        error = 0
        for swap in (",noswap", ""):  # Linux before 6.4 does not have this option.
            try:
                mount(self.source, str(path), "tmpfs", MS_NOSUID | MS_NODEV, f"mode=0777{size}{swap}")
                return True
            except OSError as fault:
                error = fault.errno or 0
        if error not in _NOT_PERMITTED:
            raise OSError(error, os.strerror(error), str(path))
        self._permitted = False
        _log.warning("cannot mount tmpfs: %s; Secrets and tokens of Pods are on disk", os.strerror(error))
        return False


def unmount_below(directory: Path, *, source: str = "") -> None:
    """Unmount every tmpfs at or below a directory, or only those with a source name. Does nothing if there are none."""
    prefix = os.path.realpath(directory)
    # In reverse order of the mounts: a mount inside another one must go first.
    for path in reversed(_tmpfs_mounts(source)):
        if path == prefix or path.startswith(f"{prefix}/"):
            # Detached: a process may still have a file open, which would make an ordinary unmount fail.
            detach(path)


def _tmpfs_mounts(source: str) -> list[str]:
    """Return the mount points of all tmpfs (with this source, if it is not empty), in the order in which they were
    mounted.
    """
    with open(_MOUNT_INFO, encoding="utf-8", errors="surrogateescape") as lines:
        found = [line.split(" - ", 1) for line in lines]
    return [
        unescaped(before.split(" ")[4])
        for before, after in found
        if after.startswith(f"tmpfs {source} " if source else "tmpfs ")
    ]
