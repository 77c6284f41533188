"""Limits of the HTTP server."""

from dataclasses import dataclass, field

from sampan.server.connections.unread import UnreadLimits


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Timeouts in seconds, and limits. Source: apiserver pkg/server/secure_serving.go (1.36)."""

    idle_timeout_s: float = 90.0
    """Time after which a connection without a request is closed, as in kube-apiserver."""
    header_timeout_s: float = 32.0
    """Time limit for receiving the head of a request. For the first request it starts with the connection."""
    write_timeout_s: float = 60.0
    """Time limit for the client to read what was sent to it."""
    handshake_timeout_s: float = 32.0
    close_timeout_s: float = 1.0
    """Time limit for the client to confirm the end of TLS (`close_notify`) after it has received all data. Idle clients
    do not confirm it, and must not delay a shutdown.
    """
    sweep_interval_s: float = 5.0
    linger_s: float = 1.0
    """Time for the client to disconnect after an announced close, while it may still send data."""
    quiet_s: float = 1.0
    """Time without requests after which a connection may be closed: the client is unlikely to send one at
    that moment.
    """
    accept_drain_s: float = 0.1
    """Time at shutdown to accept connections that the kernel has already established."""
    http2_streams_max: int = 100
    """Maximum number of concurrent streams of an HTTP/2 connection."""
    backlog: int = 1024
    unread: UnreadLimits = field(default_factory=UnreadLimits)
    """Maximum numbers of bytes that wait because clients do not read, unless the caller counts them."""
