"""Domain names: tuples of lowercase labels, and their encoding in messages.

Source: RFC 1035 (sections 2.3.4, 3.1 and 4.1.4).
"""

import ipaddress
from typing import Final

Name = tuple[str, ...]
"""Labels of a name, the most specific first: `("web", "default", "svc", "cluster", "local")`. The root is empty."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LABEL_BYTES_MAX: Final = 63
NAME_BYTES_MAX: Final = 255
POINTERS_MAX: Final = 64
"""Maximum number of compression pointers in one name. A name with more is an attempt to use up CPU time."""
_POINTER: Final = 0xC0
_NIBBLES: Final = 32


class MalformedName(ValueError):
    """The bytes or the text are not a domain name."""


def parse_name(text: str) -> Name:
    """Return the name of a text such as `web.default.svc.cluster.local`, with or without a final dot.

    Raises `MalformedName`.
    """
    inner = text.removesuffix(".").lower()
    labels = tuple(inner.split(".")) if inner else ()
    encode_name(labels)
    return labels


def format_name(name: Name) -> str:
    """Return the text of a name, with a final dot."""
    return ".".join(name) + "."


def encode_name(name: Name) -> bytes:
    """Return the name without compression. Raises `MalformedName` if it or a label is too long."""
    out = bytearray()
    for label in name:
        try:
            encoded = label.encode("latin-1")
        except UnicodeEncodeError:
            raise MalformedName(f"label {label!r} is not ASCII") from None
        if not 0 < len(encoded) <= LABEL_BYTES_MAX:
            raise MalformedName(f"label {label!r} must have 1 to {LABEL_BYTES_MAX} bytes")
        out.append(len(encoded))
        out += encoded
    out.append(0)
    if len(out) > NAME_BYTES_MAX:
        raise MalformedName(f"name {format_name(name)!r} is longer than {NAME_BYTES_MAX} bytes")
    return bytes(out)


def read_name(data: bytes, start: int) -> tuple[Name, int]:
    """Return the name at an offset of a message, and the offset after it. Raises `MalformedName`.

    A compression pointer must lead to a part of the message before the part that contains it. This prevents loops.
    """
    labels: list[str] = []
    size, offset, part, after, pointers = 1, start, start, -1, 0
    while True:
        if offset >= len(data):
            raise MalformedName("a name ends after the message")
        length = data[offset]
        if length & _POINTER == _POINTER:
            if offset + 1 >= len(data):
                raise MalformedName("a compression pointer ends after the message")
            target = (length & ~_POINTER) << 8 | data[offset + 1]
            pointers += 1
            if target >= part or pointers > POINTERS_MAX:
                raise MalformedName("a compression pointer does not lead backwards, or there are too many")
            after = offset + 2 if after < 0 else after
            offset = part = target
            continue
        if length & _POINTER:
            raise MalformedName("unknown type of label")
        end = offset + 1 + length
        if length == 0:
            return tuple(labels), end if after < 0 else after
        size += length + 1
        if end > len(data) or size > NAME_BYTES_MAX:
            raise MalformedName("a name is too long")
        labels.append(data[offset + 1 : end].decode("latin-1").lower())
        offset = end


def reverse_name(address: Address) -> Name:
    """Return the name of the PTR record of an address."""
    return tuple(address.reverse_pointer.split("."))


def address_of_reverse(name: Name) -> Address | None:
    """Return the address of a PTR record's name, or None for any other name."""
    try:
        match name:
            case (*octets, "in-addr", "arpa") if len(octets) == 4:
                return ipaddress.IPv4Address(".".join(reversed(octets)))
            case (*nibbles, "ip6", "arpa") if len(nibbles) == _NIBBLES and all(len(each) == 1 for each in nibbles):
                return ipaddress.IPv6Address(int("".join(reversed(nibbles)), 16))
    except ValueError:
        pass
    return None
