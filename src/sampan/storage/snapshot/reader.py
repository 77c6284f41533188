"""Reader of snapshot files: first `verify`, which changes nothing, then `read_file`."""

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from sampan.storage.snapshot.format import (
    CHECKSUM_SIZE,
    CONTENT_MAX,
    FILE,
    FORMAT,
    HEAD,
    NAME_MAX,
    ROW,
    VERSION,
    Header,
    Row,
    SnapshotError,
    Summary,
    Totals,
)
from sampan.wire.json import UNREADABLE

_CHUNK = 1 << 20
_LINE_MAX = 4096
Advance = Callable[[int, int], None]
"""Receives the number of bytes read and the total."""


class _Form(msgspec.Struct):
    format: str
    version: int


def verify(path: Path, progress: Advance) -> Summary:
    """Read the whole file and check its checksum. Return its description. Raises `SnapshotError`, `OSError`."""
    with path.open("rb") as file:
        header = _header(file, path)
        size = os.fstat(file.fileno()).st_size
        end = size - CHECKSUM_SIZE
        if end <= file.tell():
            raise SnapshotError(f"{path} is truncated: it has no checksum")
        checksum = _sum(file, end, size, progress)
        file.seek(end)
        if file.read() != checksum.encode() + b"\n":
            raise SnapshotError(f"{path} is damaged or truncated: its checksum does not match its content")
        return Summary(header, _totals(file, end, path), checksum, size)


def read_file(path: Path) -> Iterator[Row | tuple[str, bytes]]:
    """Yield the records in order: rows, and files of the data directory as (name, content). Memory is bounded.

    The file must have passed `verify`. Raises `SnapshotError` if the records do not match the totals.
    """
    with path.open("rb") as file:
        _header(file, path)
        stream = _Inflated(file, path)
        while head := stream.read(HEAD.size, or_end=True):
            kind, name_size, content_size, created, modified, expires_at = HEAD.unpack(head)
            # Before memory is allocated for the sizes, which come from the file.
            if kind not in (ROW, FILE) or name_size > NAME_MAX or content_size > CONTENT_MAX:
                raise SnapshotError(f"{path} has a malformed record")
            name, content = str(stream.read(name_size), "utf-8", "surrogatepass"), stream.read(content_size)
            yield (name, content) if kind == FILE else Row(name, content, created, modified, expires_at)


def _header(file: BinaryIO, path: Path) -> Header:
    # With a limit: another kind of file may have no newline in gigabytes.
    line = file.readline(_LINE_MAX)
    try:
        form = msgspec.json.decode(line, type=_Form)
    except UNREADABLE:
        raise SnapshotError(f"{path} is not a snapshot") from None
    if form.format != FORMAT:
        raise SnapshotError(f"{path} is not a snapshot")
    if form.version != VERSION:
        raise SnapshotError(f"{path} is a snapshot of version {form.version}; this program reads version {VERSION}")
    try:
        return msgspec.json.decode(line, type=Header)
    except UNREADABLE as error:
        raise SnapshotError(f"{path} has a damaged header: {error}") from error


def _sum(file: BinaryIO, end: int, size: int, progress: Advance) -> str:
    """Return the checksum of the first `end` bytes."""
    sha256 = hashlib.sha256()
    file.seek(0)
    done = 0
    while done < end:
        chunk = file.read(min(_CHUNK, end - done))
        sha256.update(chunk)
        done += len(chunk)
        progress(done, size)
    return sha256.hexdigest()


def _totals(file: BinaryIO, end: int, path: Path) -> Totals:
    file.seek(max(end - _LINE_MAX, 0))
    line = file.read(end - file.tell()).splitlines()[-1]
    try:
        return msgspec.json.decode(line, type=Totals)
    except UNREADABLE as error:
        raise SnapshotError(f"{path} has damaged totals: {error}") from error


class _Inflated:
    """Reader of the records' bytes, which decompresses a chunk at a time."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._zlib = zlib.decompressobj()
        self._buffer = bytearray()

    def read(self, size: int, *, or_end: bool = False) -> bytes:
        """Return `size` bytes. With `or_end`, return no bytes at the end of the stream."""
        while len(self._buffer) < size and self._more():
            pass
        if len(self._buffer) < size and not (or_end and not self._buffer):
            raise SnapshotError(f"{self._path} is truncated within its records")
        # A slice of a bytearray would be a second copy.
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken

    def _more(self) -> bool:
        if self._zlib.eof:
            return False
        # At most `_CHUNK` bytes of output a time: a small chunk can expand to a thousand times its size.
        packed = self._zlib.unconsumed_tail or self._file.read(_CHUNK)
        try:
            inflated = self._zlib.decompress(packed, _CHUNK)
        except zlib.error as error:
            raise SnapshotError(f"{self._path} is damaged: {error}") from error
        self._buffer += inflated
        return bool(packed or inflated)
