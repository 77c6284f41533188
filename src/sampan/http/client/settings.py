"""`HttpClientSettings`: limits of HTTP clients."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpClientSettings:
    """Limits of a client; times in seconds, sizes in bytes."""

    connections_max: int | None = 32
    """Maximum number of connections for plain requests; further requests wait in a FIFO queue. None: no limit.

    A stream has an extra connection that does not count, because the caller chooses the number of streams.
    """
    idle_max: int | None = None
    """Maximum number of idle connections. None: no limit."""
    idle_per_server_max: int | None = None
    """Maximum number of idle connections to one server. None: no limit."""
    idle_timeout_s: float = 55.0
    """Time after which an idle connection is closed. It is below the 60 s of many load balancers."""
    connect_timeout_s: float = 30.0
    """Time limit for name resolution, connection, proxy and TLS handshake together (client-go dials for 30 s)."""
    request_timeout_s: float | None = None
    """Time limit for a whole response if the request sets none (a `Client` always does). None: no limit."""
    head_bytes_max: int = 1 << 20
    """Maximum size of the status line and header fields of a response."""
    body_bytes_max: int = 4 << 30
    """Maximum size of a body that is read as a whole, after decompression."""
    buffer_bytes_max: int = 1 << 20
    """Maximum number of buffered bytes of a body that the caller has not read. Beyond it the server must wait."""
    compression: bool = True
    """Request gzip. A compressed body is decompressed in any case."""
    decompression: bool = True
    """Decompress bodies. False: return them as received."""
