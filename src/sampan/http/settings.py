"""`HttpSettings`: the bounds of HTTP clients."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Bounds of a client; times in seconds, sizes in bytes."""

    connections_max: int | None = 32
    """Connections for plain requests. Beyond that requests wait, first come first served. A stream has a connection to
    itself, which does not count: the caller chooses how many streams there are. None: no limit."""
    idle_max: int | None = None
    """Unused connections that are kept, in all. None: no limit."""
    idle_per_server_max: int | None = None
    """Unused connections that are kept to one server. None: no limit."""
    idle_timeout_s: float = 55.0
    """Time for which an unused connection is kept. Below the 60 s after which many load balancers forget it."""
    connect_timeout_s: float = 30.0
    """For the address, the connection, the proxy and the TLS handshake together (client-go dials for 30 s)."""
    request_timeout_s: float | None = None
    """For a whole answer, if the request does not set a limit (a `Client` always does); None: no limit."""
    head_bytes_max: int = 1 << 20
    """Status line and header fields of a response."""
    body_bytes_max: int = 4 << 30
    """A body that is read as a whole, after decompression."""
    buffer_bytes_max: int = 1 << 20
    """Bytes of a body that are buffered before they are read; beyond that the server has to wait."""
    compression: bool = True
    """Accept gzip. A body that is compressed nevertheless is decompressed too."""
    decompression: bool = True
    """False: bodies are passed on as they come."""
