"""Logs of containers that the runtime writes: their rotation, and the wait for new lines.

Source: kubelet pkg/kubelet/logs/container_log_manager.go (1.36). Rotated files are not compressed, so that clients can
read them.
"""

import asyncio
import datetime as dt
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath import open_beneath, open_directory, opened
from sampan.node.process.logs.log_file import FILE_BYTES_MAX, FILES_MAX, log_files

_POLL_S: Final = 0.2


class FollowedLog:
    """Log that another process writes."""

    def __init__(self, path: Path, is_over: Callable[[], bool]) -> None:
        """`is_over` returns whether the container has ended."""
        self._path = path
        self._is_over = is_over
        self._seen: tuple[int, int] = (0, 0)

    @property
    def is_closed(self) -> bool:
        """True if nothing more is written."""
        return self._is_over()

    async def changed(self) -> None:
        """Wait until the file has grown or was replaced, or the container has ended."""
        while True:
            now = self._state()
            if now != self._seen or self._is_over():
                self._seen = now
                return
            await asyncio.sleep(_POLL_S)

    def _state(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)
        except OSError:
            return (0, 0)
        return found.st_ino, found.st_size


def rotate(path: Path, now: dt.datetime, *, bytes_max: int = FILE_BYTES_MAX) -> bool:
    """Rename a full log, and drop the oldest files. Returns whether the runtime has to open a new file."""
    logs = path.parents[2]
    try:
        with (
            opened(open_directory(logs)) as root,
            opened(open_beneath(root, str(path.parent.relative_to(logs)), links=False)) as directory,
        ):
            if os.stat(path.name, dir_fd=directory, follow_symlinks=False).st_size < bytes_max:
                return False
            new_name = f"{path.name}.{now:%Y%m%d-%H%M%S}"
            os.rename(path.name, new_name, src_dir_fd=directory, dst_dir_fd=directory)
            for old in log_files(path)[:-FILES_MAX]:
                with suppress(FileNotFoundError):
                    os.unlink(old.name, dir_fd=directory)
    except OSError:
        return False
    return True
