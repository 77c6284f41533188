"""Gzip bodies made of a small new head and a large tail that is already compressed.

Deflate blocks can be concatenated, and the CRC-32 of a body can be computed from those of its two parts. So a list
with unchanged items is sent with a new resourceVersion without compressing its items again.
Source: RFC 1951, RFC 1952.
"""

import struct
import zlib
from typing import NamedTuple

from isal import isal_zlib

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
_RAW = -15


class Packed(NamedTuple):
    """Compressed tail (its last deflate block is final), with the checksum and size that the gzip trailer needs."""

    deflated: bytes
    crc: int
    size_bytes: int


def pack(tail: bytes) -> Packed:
    """Compress a tail with deflate at the fastest level. Releases the GIL, so it can run in a thread."""
    compressor = isal_zlib.compressobj(1, isal_zlib.DEFLATED, _RAW)
    deflated: bytes = compressor.compress(tail) + compressor.flush()
    return Packed(deflated, isal_zlib.crc32(tail), len(tail))


def join(head: bytes, tail: Packed) -> tuple[bytes, bytes, bytes]:
    """Return the gzip form of `head + tail`, in three parts. The second one is not copied from the tail."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, _RAW)
    # A full flush ends the head at a byte boundary, without marking its block as the last, so that the tail can follow.
    deflated = compressor.compress(head) + compressor.flush(zlib.Z_FULL_FLUSH)
    crc = isal_zlib.crc32_combine(zlib.crc32(head), tail.crc, tail.size_bytes)
    trailer = struct.pack("<II", crc & 0xFFFFFFFF, (len(head) + tail.size_bytes) & 0xFFFFFFFF)
    return _HEADER + deflated, tail.deflated, trailer
