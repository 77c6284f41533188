"""`Limits`: how much of a message is taken in besides its body."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds of a reader. The size of bodies is up to the receiver, which sees each piece."""

    head_bytes_max: int = 1 << 20
    """Start line and header fields, with those of interim responses. Counted in pieces as they arrive."""
    fields_max: int = 10_000
    """Header fields of one message."""
    overhead_bytes_max: int = 64 << 10
    """Bytes of a body that are not its data (chunk sizes and extensions, trailers), beyond 16 and twice its data for
    each piece of data. Source: Go net/http/internal/chunked.go (1.26).
    """
    ahead_bytes_max: int = 64 << 10
    """Bytes that follow the head of a request for an upgrade, until they are read."""


LIMITS = Limits()
