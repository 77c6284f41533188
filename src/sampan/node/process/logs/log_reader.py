"""`read_log`: reads a part of a log: its last lines, or the entries since a time. Optionally follows the log.

Memory: one block of a file and one line at a time, independent of the log's size.
Source: cri-client pkg/logs/{logs,tail}.go (1.36); the kubelet reads only the newest file.
"""

import asyncio
import datetime as dt
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from sampan.core.clock import utc_now
from sampan.core.time import add_seconds
from sampan.node.beneath import open_log
from sampan.node.process.logs.log_file import log_files, log_time
from sampan.node.runtime import LogOptions

_BLOCK_BYTES: Final = 1 << 16
_TAG: Final = 2
"""Index of the tag in an entry. Runtimes write times of different lengths."""


class LogWriter(Protocol):
    """Part of a log's writer that its readers need."""

    @property
    def is_closed(self) -> bool:
        """True if nothing more is written."""
        ...

    async def changed(self) -> None:
        """Wait until an entry is added, or the log is closed."""
        ...


async def read_log(path: Path, options: LogOptions, now: dt.datetime, writer: LogWriter | None) -> AsyncIterator[bytes]:
    """Yield the log whose newest file is `path`.

    Follow it until `writer` is closed. Yields nothing if there is no file.
    """
    cut = _Cut(options, now)
    file = _start(path, options.tail_lines)
    rest = b""
    try:
        while file is not None and not cut.is_full:
            # Check for the end before reading, so that entries written before the end are not missed.
            may_grow = options.follow and writer is not None and not writer.is_closed
            data = file.read(_BLOCK_BYTES)
            if data:
                entries, newline, rest = (rest + data).rpartition(b"\n")
                if newline and (output := cut.output(entries)):
                    yield output
                await asyncio.sleep(0)
                continue
            after = _file_after(file, path)
            if after is not None:
                file.close()
                file, rest = after, b""
            elif may_grow:
                assert writer is not None
                await writer.changed()
            else:
                return
    finally:
        if file is not None:
            file.close()


def log_tail(path: Path, *, lines_max: int, bytes_max: int) -> bytes:
    """Return the last lines of a log, for a container that has not written a termination message."""
    file = _start(path, lines_max)
    if file is None:
        return b""
    with file:
        size_bytes = os.fstat(file.fileno()).st_size
        file.seek(max(file.tell(), size_bytes - 4 * bytes_max - _BLOCK_BYTES))
        data = file.read()
    cut = _Cut(LogOptions(), utc_now())
    return cut.output(data.rstrip(b"\n"))[-bytes_max:] if data else b""


class _Cut:
    """Selects the entries to return, by the options."""

    def __init__(self, options: LogOptions, now: dt.datetime) -> None:
        since = options.since_time
        if options.since_seconds is not None:
            since = add_seconds(now, -options.since_seconds)
        self._since = log_time(since) if since is not None else b""
        self._stream = options.stream.lower().encode()
        self._times = options.timestamps
        self._left = options.limit_bytes
        self._goes_on: dict[bytes, bool] = {}

    @property
    def is_full(self) -> bool:
        """True if the byte limit is reached."""
        return self._left is not None and self._left <= 0

    def output(self, entries: bytes) -> bytes:
        """Return the selected text of complete entries."""
        found: list[bytes] = []
        for entry in entries.split(b"\n"):
            parts = entry.split(b" ", 3)
            if len(parts) != 4:
                continue  # The line is not an entry, or a crash has cut it.
            time, stream, tag, text = parts
            if time < self._since or (self._stream != b"all" and stream != self._stream):
                continue
            if self._times and not self._goes_on.get(stream):
                found += (time, b" ")
            found.append(text)
            self._goes_on[stream] = tag == b"P"
            if tag != b"P":
                found.append(b"\n")
        output = b"".join(found)
        if self._left is not None:
            output = output[: self._left]
            self._left -= len(output)
        return output


def _start(path: Path, tail_lines: int | None) -> BinaryIO | None:
    """Return the first file to read, and the position in it."""
    left = tail_lines
    oldest: BinaryIO | None = None
    for each in reversed(log_files(path)):
        try:
            file = open_log(each)
        except OSError:
            continue
        if oldest is not None:
            oldest.close()
        oldest = file
        if left is not None:
            size_bytes = os.fstat(file.fileno()).st_size
            position, left = _position(file, size_bytes, left, counts_last=each == path)
            file.seek(position)
            if left < 0:
                break
    if oldest is not None and left is None:
        oldest.seek(0)
    return oldest


def _position(file: BinaryIO, size_bytes: int, left: int, *, counts_last: bool) -> tuple[int, int]:
    """Return the position of the last `left` lines (-1 for none), and the number of lines that older files must
    provide.
    """
    after = size_bytes
    is_last = counts_last
    for start, entry in _entries_backwards(file, size_bytes):
        if is_last or _ends_line(entry):
            if left == 0:
                return after, -1
            left -= 1
        is_last = False
        after = start
    return 0, left


def _ends_line(entry: bytes) -> bool:
    words = entry.split(b" ", _TAG + 1)
    return len(words) > _TAG and words[_TAG] == b"F"


def _entries_backwards(file: BinaryIO, size_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the entries with their positions, the last one first."""
    rest = b""
    end = size_bytes
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        block = file.read(end - start) + rest
        first, newline, others = block.partition(b"\n")
        rest = first + newline
        position = start + len(block)
        for entry in reversed(_lines(others)):
            position -= len(entry)
            yield position, entry
        end = start
    if rest:
        yield 0, rest


def _lines(data: bytes) -> list[bytes]:
    """Split after newlines only."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _file_after(file: BinaryIO, path: Path) -> BinaryIO | None:
    """Return the file that follows this one; None for the newest."""
    own = os.fstat(file.fileno()).st_ino
    newer: BinaryIO | None = None
    for each in reversed(log_files(path)):
        try:
            found = open_log(each)
        except OSError:
            continue
        if os.fstat(found.fileno()).st_ino == own:
            found.close()
            return newer
        if newer is not None:
            newer.close()
        newer = found
    return newer
