"""A gzip body of a small new head and a large tail that was deflated before.

Deflate blocks may follow one another, and the CRC-32 of two parts can be computed from theirs; so a list whose items
have not changed is sent under a new resourceVersion without compressing its items again.
Source: RFC 1951, RFC 1952.
"""

import struct
import zlib
from typing import NamedTuple

from isal import isal_zlib

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
_RAW = -15


class Packed(NamedTuple):
    """A deflated tail (its last block is final), with what the trailer needs of it."""

    deflated: bytes
    crc: int
    size_bytes: int


def pack(tail: bytes) -> Packed:
    """Deflate a tail at the fastest level. The interpreter lock is free meanwhile: meant for a thread."""
    compressor = isal_zlib.compressobj(1, isal_zlib.DEFLATED, _RAW)
    deflated: bytes = compressor.compress(tail) + compressor.flush()
    return Packed(deflated, isal_zlib.crc32(tail), len(tail))


def join(head: bytes, tail: Packed) -> bytes:
    """The gzip form of `head + tail`."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, _RAW)
    deflated = compressor.compress(head) + compressor.flush(zlib.Z_FULL_FLUSH)
    crc = isal_zlib.crc32_combine(zlib.crc32(head), tail.crc, tail.size_bytes)
    trailer = struct.pack("<II", crc & 0xFFFFFFFF, (len(head) + tail.size_bytes) & 0xFFFFFFFF)
    return b"".join((_HEADER, deflated, tail.deflated, trailer))
