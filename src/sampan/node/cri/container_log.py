"""Logs of containers that the runtime writes: their rotation, and the wait for new lines.

Source: kubelet pkg/kubelet/logs/container_log_manager.go (1.36). Rotated files are not compressed, so that clients can
read them.
"""

import asyncio
import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sampan.node.process.log_file import FILE_BYTES_MAX, FILES_MAX, log_files

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
    try:
        if path.stat().st_size < bytes_max:
            return False
        path.rename(path.with_name(f"{path.name}.{now:%Y%m%d-%H%M%S}"))
    except OSError:
        return False
    for old in log_files(path)[:-FILES_MAX]:
        old.unlink(missing_ok=True)
    return True
