"""Format of a snapshot file, which docs/snapshots.md documents.

The file has a line of JSON (the header), a zlib stream of records, and a newline. Then follow a line of JSON (the
totals) and a line with the SHA-256 of everything before it. A record has a head of fixed size, a name and a content.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

FORMAT = "sampan-snapshot"
VERSION = 1
ROW, FILE = 0, 1
"""Kinds of records: a row of the store, or a file of the data directory."""
HEAD = struct.Struct(">BIIQQd")
"""Kind, sizes of name and content, create revision, mod revision, and expiry (seconds since the epoch; 0: none)."""
NAME_MAX = 64 << 10
CONTENT_MAX = 256 << 20
CHECKSUM_SIZE = 65
"""Size of the last line: 64 hexadecimal digits and the newline."""


class SnapshotError(Exception):
    """A file is not a complete snapshot, or a snapshot cannot be taken. The text is for the user."""


class Row(NamedTuple):
    """Row of the store. `expires_at`: seconds since the epoch; 0: never."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    expires_at: float


class Header(msgspec.Struct, frozen=True, rename="camel"):
    """First line of the file. `engine`: source of the rows; `made_at`: RFC 3339; `made_by`: program."""

    revision: int
    engine: str
    made_at: str
    made_by: str
    format: str = FORMAT
    version: int = VERSION


class Totals(msgspec.Struct, frozen=True, rename="camel"):
    """Totals near the end of the file: rows, bytes of their values, and files of the data directory."""

    keys: int
    value_bytes: int
    files: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Description of a complete snapshot file. `sha256` covers the file without its last line."""

    header: Header
    totals: Totals
    sha256: str
    size_bytes: int


def record(row: Row) -> tuple[bytes, bytes]:
    """Return the record of a row in two parts: its head and name, and its content."""
    key = row.key.encode()
    head = HEAD.pack(ROW, len(key), len(row.value), row.create_revision, row.mod_revision, row.expires_at)
    return head + key, row.value


def file_record(name: str, content: bytes) -> bytes:
    """Return a file of the data directory as a record. `name` is relative to the directory."""
    encoded = name.encode()
    return HEAD.pack(FILE, len(encoded), len(content), 0, 0, 0) + encoded + content
