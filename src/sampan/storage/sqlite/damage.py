"""Damage of a database file: errors with a remedy, and a check of the write-ahead log."""

import os
import sqlite3
import struct
from typing import Final

from sampan.storage.store import StoreDamaged

_CORRUPT: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
_MASK: Final = 0xFFFFFFFF


def is_damage(error: BaseException | None) -> bool:
    """Return True if an error of SQLite means that the file is damaged or not a database."""
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _CORRUPT


def damaged(path: str, cause: object) -> StoreDamaged:
    """Return the error for a damaged database, with the remedy."""
    directory = os.path.dirname(path) or "."
    why = " ".join(str(cause).split())
    return StoreDamaged(
        f"{path} is damaged ({why}): stop the server and run `sampan storage check {directory}` for details; to "
        f"recover, move {directory} away and run `sampan snapshot restore FILE --data {directory}`"
    )


def check_log(path: str) -> None:
    """Verify the write-ahead log that a killed server left.

    SQLite stops at the first frame with a wrong checksum and silently drops every write after it. After a crash the
    last transaction may be torn. That is not damage, because it was never acknowledged. But each transaction begins
    only after the previous one is on disk, so a wrong frame before the last transaction is damage.

    Raises `StoreDamaged`.
    Source: https://sqlite.org/fileformat2.html#walformat
    """
    try:
        with open(path + "-wal", "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return
    if len(content) < _HEADER.size or not any(content[: _HEADER.size]):
        return
    magic, _, page_size, _, salt_1, salt_2, *sums = _HEADER.unpack_from(content)
    order = "<" if magic == _MAGIC else ">"
    if magic & ~1 != _MAGIC or _checksum(content[:24], order, 0, 0) != tuple(sums):
        raise damaged(path, "the header of its write-ahead log is wrong")
    frames = range(_HEADER.size, len(content) - _FRAME.size - page_size + 1, _FRAME.size + page_size)
    current = [at for at in frames if _FRAME.unpack_from(content, at)[2:4] == (salt_1, salt_2)]
    ends = [at for at in current if _FRAME.unpack_from(content, at)[1]]
    if not ends:
        return
    certain = next((at for at in reversed(ends) if at < current[-1]), 0)
    one, two = sums
    for at in frames:
        if at > certain:
            return
        page = content[at + _FRAME.size : at + _FRAME.size + page_size]
        one, two = _checksum(content[at : at + 8] + page, order, one, two)
        if _FRAME.unpack_from(content, at)[2:] != (salt_1, salt_2, one, two):
            raise damaged(path, f"frame {(at - _HEADER.size) // (_FRAME.size + page_size) + 1} of its write-ahead log")


def _checksum(content: bytes, order: str, one: int, two: int) -> tuple[int, int]:
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for first, second in zip(words, words, strict=True):
        one = (one + first + two) & _MASK
        two = (two + second + one) & _MASK
    return one, two
