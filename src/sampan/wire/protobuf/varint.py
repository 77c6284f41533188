"""Primitives of the protobuf encoding: varints, tags, and skipping unknown fields.

Positions count bytes from the start of the body. These functions check only the end of the body; the caller checks
the end of a nested message.
Source: protocol buffers' encoding; apimachinery generated.pb.go (1.36).
"""

import functools
from collections.abc import Iterator
from typing import Final, NoReturn

from sampan.wire.json import DecodeError

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
_GROUP_START: Final = 3
_GROUP_END: Final = 4
_FIXED32: Final = 5
_GROUPS_MAX: Final = 64
_UINT64_MASK: Final = (1 << 64) - 1


def truncated() -> NoReturn:
    """Raise the error for a body that ends too early."""
    raise DecodeError("unexpected EOF")


def read_varint(body: bytes, position: int) -> tuple[int, int]:
    """Return the number (0 to 2^64-1) at a position, and the position after it. Raises `DecodeError`."""
    result = shift = 0
    try:
        while True:
            byte = body[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result & _UINT64_MASK, position
            shift += 7
            if shift >= 64:
                raise DecodeError("proto: integer overflow")
    except IndexError:
        truncated()


def write_varint(value: int) -> bytes:
    """Encode a number from 0 to 2^64-1; negative ones become their two's complement of 64 bits."""
    if 0 <= value < 128:
        return _SMALL[value]
    value &= _UINT64_MASK
    out = bytearray()
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL: Final = tuple(bytes((value,)) for value in range(128))


def tag_of(number: int, wire_type: int) -> int:
    """Return the tag that precedes a field's value."""
    return number << 3 | wire_type


@functools.cache
def length_prefixes(number: int) -> tuple[bytes, ...]:
    """Return the encoded tag of a length-delimited field with each length below 128."""
    tag = write_varint(tag_of(number, BYTES))
    return tuple(tag + length for length in _SMALL)


def skip(body: bytes, position: int, end: int, tag: int) -> int:
    """Return the position after the value of an unknown tag. Raises `DecodeError`."""
    if not tag >> 3 or tag >> 3 > 0x1FFFFFFF:
        raise DecodeError(f"proto: illegal tag {tag >> 3} (wire type {tag & 7})")
    groups = 0
    while True:
        position, groups = _skip_one(body, position, tag & 7, groups)
        if position > end:
            truncated()
        if not groups:
            return position
        if position == end:
            truncated()
        tag, position = read_varint(body, position)


def _skip_one(body: bytes, position: int, wire_type: int, groups: int) -> tuple[int, int]:
    if wire_type == VARINT:
        return read_varint(body, position)[1], groups
    if wire_type == BYTES:
        size, position = read_varint(body, position)
        return position + size, groups
    if wire_type == FIXED64:
        return position + 8, groups
    if wire_type == _FIXED32:
        return position + 4, groups
    if wire_type == _GROUP_START and groups < _GROUPS_MAX:
        return position, groups + 1
    if wire_type == _GROUP_END and groups:
        return position, groups - 1
    raise DecodeError(f"proto: illegal wireType {wire_type}")


def scan(body: bytes, position: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the fields of a small message: (tag, start, stop), or (tag, value, 0) for a varint.

    Raises `DecodeError`.
    """
    while position < end:
        tag, position = read_varint(body, position)
        if tag & 7 == VARINT:
            value, position = read_varint(body, position)
            if position > end:
                truncated()
            yield tag, value, 0
        elif tag & 7 == BYTES:
            size, position = read_varint(body, position)
            stop = position + size
            if stop > end:
                truncated()
            yield tag, position, stop
            position = stop
        else:
            position = skip(body, position, end, tag)
    if position != end:
        truncated()


def signed64(value: int) -> int:
    """Convert a varint to an int64."""
    return value - (1 << 64) if value >> 63 else value


def signed32(value: int) -> int:
    """Convert a varint to an int32: its low half, as in Go."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
