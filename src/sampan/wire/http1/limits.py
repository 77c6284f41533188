"""`Limits`: limits of the received bytes of a message other than the data of its body."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a reader. The receiver limits the size of bodies, because it gets each piece."""

    head_bytes_max: int = 1 << 20
    """Maximum size of start line and header fields, including those of interim responses. Counted as pieces arrive."""
    fields_max: int = 10_000
    """Maximum number of header fields of one message."""
    overhead_bytes_max: int = 64 << 10
    """Maximum number of bytes of a body that are not its data (chunk sizes and extensions, trailers). Each piece of
    data allows 16 bytes, and twice its size, in addition. Source: Go net/http/internal/chunked.go (1.26).
    """
    ahead_bytes_max: int = 64 << 10
    """Maximum number of unread bytes after the head of a request for an upgrade."""


LIMITS = Limits()
