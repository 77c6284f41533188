"""`HttpSettings`: the limits of the HTTP server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Times are in seconds. Source: apiserver pkg/server/secure_serving.go (1.36)."""

    idle_timeout_s: float = 90.0
    """How long a connection may stay open without a request (as kube-apiserver)."""
    header_timeout_s: float = 32.0
    """How long the head of a request may take to arrive; that of the first one from when the client came."""
    write_timeout_s: float = 60.0
    """How long a client may leave what was sent to it unread."""
    handshake_timeout_s: float = 32.0
    close_timeout_s: float = 1.0
    """How long a client may take to agree to the end of TLS when it has all that was sent to it. Idle ones do not
    listen, and must not hold up ours.
    """
    sweep_interval_s: float = 5.0
    linger_s: float = 1.0
    """How long a client may take to go after it was told that its connection ends, if it may still send something."""
    rest_s: float = 1.0
    """How long a client has to be silent until it is not expected to ask again just when its connection is closed."""
    door_s: float = 0.1
    """How long clients that the system has let in may take to come through when the server stops to listen."""
    http2_streams_max: int = 100
    """How many requests an HTTP/2 connection may have open at a time."""
    backlog: int = 1024
