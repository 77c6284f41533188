"""`HttpSettings`: the bounds of the HTTP transport."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Bounds of a transport; times in seconds, sizes in bytes."""

    connections_max: int = 32
    """Connections for plain requests. Beyond that requests wait, first come first served. A stream has a connection of
    its own, which does not count: how many streams there are is the caller's choice."""
    idle_timeout_s: float = 55.0
    """How long an unused connection is kept. Below the 60 s after which many load balancers forget a connection."""
    connect_timeout_s: float = 30.0
    """For the address, the connection, the proxy and the TLS handshake together (client-go dials for 30 s)."""
    request_timeout_s: float | None = None
    """For a whole answer, if the request does not set a limit (a `Client` always does); None: no limit."""
    head_bytes_max: int = 1 << 20
    """Status line and header fields of an answer."""
    body_bytes_max: int = 4 << 30
    """A body that is read as a whole, after decompression."""
    buffer_bytes_max: int = 1 << 20
    """What is taken in of a body that nobody reads yet; beyond that the server has to wait."""
    compression: bool = True
    """Ask for gzip."""
