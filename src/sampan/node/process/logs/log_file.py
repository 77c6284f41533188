"""`LogFile`: log of one run of a container, in CRI's text format and with a bounded size.

An entry is `<time> <stream> <F|P> <text>`. P marks a part of a line that continues in the stream's next entry.
`<run>.log` is written; older files are `<run>.log.<date>-<time>`. There are at most `FILES_MAX` files of
`FILE_BYTES_MAX` each; older entries are lost. Entries are never split between files.
Source: cri-api pkg/apis/runtime/v1 (log format), cri-client pkg/logs/logs.go, kubelet
pkg/kubelet/logs/container_log_manager.go (1.36).
"""

import asyncio
import datetime as dt
import logging
import os
from pathlib import Path
from typing import Final

from sampan.core.time import Clock

FILE_BYTES_MAX: Final = 10 << 20
FILES_MAX: Final = 5
LINE_BYTES_MAX: Final = 16 << 10
"""Longer lines are split."""

_log = logging.getLogger("sampan.node")


def log_files(path: Path) -> list[Path]:
    """Return the files of a log, oldest first. Each of them may be deleted at any time."""
    rotated = sorted(path.parent.glob(f"{path.name}.*")) if path.parent.is_dir() else []
    return [*rotated, path]


def log_time(instant: dt.datetime) -> bytes:
    """Format a time for the start of an entry. The length is constant, so that texts can be compared."""
    return instant.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z").encode()


class LogFile:
    """Writes a log.

    Output that cannot be written is lost and logged once, so that a full disk does not stop the container.
    """

    def __init__(self, path: Path, clock: Clock, *, file_bytes_max: int = FILE_BYTES_MAX) -> None:
        """Create the file. Raises `OSError`."""
        self.path = path
        self.is_closed = False
        self._clock = clock
        self._file_bytes_max = file_bytes_max
        self._unfinished: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self._waiters: list[asyncio.Future[None]] = []
        self._is_failing = False
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = _open(path)
        self._size_bytes = os.fstat(self._fd).st_size

    def write(self, stream: str, data: bytes) -> None:
        """Add output of `stdout` or `stderr`. A line is written when it is complete or too long."""
        lines = (self._unfinished[stream] + data).split(b"\n")
        rest = lines.pop()
        stamp = log_time(self._clock.now()) + b" " + stream.encode()
        entries = _entries(stamp, lines)
        while len(rest) > LINE_BYTES_MAX:
            entries += stamp + b" P " + rest[:LINE_BYTES_MAX] + b"\n"
            rest = rest[LINE_BYTES_MAX:]
        self._unfinished[stream] = rest
        if entries:
            self._append(entries)

    def close(self) -> None:
        """Write the last lines after the container has ended, and close the file. May be called twice."""
        if self.is_closed:
            return
        stamp = log_time(self._clock.now())
        for stream, rest in self._unfinished.items():
            if rest:
                self._append(stamp + b" " + stream.encode() + b" P " + rest + b"\n")
        self.is_closed = True
        os.close(self._fd)
        self._wake()

    async def changed(self) -> None:
        """Wait until an entry is added, or the log is closed."""
        if not self.is_closed:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)

    def _append(self, entries: bytes) -> None:
        try:
            if self._size_bytes >= self._file_bytes_max:
                self._rotate()
            while entries:
                written = os.write(self._fd, entries)
                self._size_bytes += written
                entries = entries[written:]
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                _log.warning("cannot write log %s, dropping the container's output: %s", self.path, error)
            self._is_failing = True
        self._wake()

    def _rotate(self) -> None:
        target = self._next_name()
        os.rename(self.path, target)
        os.close(self._fd)
        self._fd = _open(self.path)
        self._size_bytes = 0
        for path in log_files(self.path)[:-FILES_MAX]:
            path.unlink(missing_ok=True)

    def _next_name(self) -> Path:
        """Return the new name of a full file.

        It sorts after all other files, even with several in a second or a clock set back.
        """
        rotated = log_files(self.path)[:-1]
        newest = rotated[-1].name.removeprefix(f"{self.path.name}.") if rotated else ""
        stamp = self._clock.now().strftime("%Y%m%d-%H%M%S")
        last, _, number = newest.partition(".")
        if last >= stamp:
            stamp = f"{last}.{int(number or 0) + 1:06}"
        return self.path.with_name(f"{self.path.name}.{stamp}")

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)


def _entries(stamp: bytes, lines: list[bytes]) -> bytes:
    """Return the entries of complete lines."""
    if not lines:
        return b""
    full = stamp + b" F "
    if max(map(len, lines)) <= LINE_BYTES_MAX:
        return full + (b"\n" + full).join(lines) + b"\n"
    found = []
    for line in lines:
        start = 0
        while len(line) - start > LINE_BYTES_MAX:
            found.append(stamp + b" P " + line[start : start + LINE_BYTES_MAX] + b"\n")
            start += LINE_BYTES_MAX
        found.append(full + line[start:] + b"\n")
    return b"".join(found)
