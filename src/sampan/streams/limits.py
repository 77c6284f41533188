"""`StreamLimits`: bounds of a connection with many streams."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Bounds; times in seconds, sizes in bytes. Both ends of a connection have their own."""

    streams_max: int = 1000
    """Open streams."""
    window_bytes: int = 256 << 10
    """Bytes of a stream that the peer may send before they are read: at most this much waits for each stream."""
    waiting_bytes_max: int = 32 << 20
    """Bytes of all streams that wait to be read. The stream that would exceed this is reset."""
    unsent_bytes_max: int = 4 << 20
    """Bytes that wait because the peer does not read the connection. More of them end the connection."""
    frame_bytes_max: int = 64 << 10
    ping_s: float = 5.0
    """Time between two pings."""
    pings_lost_max: int = 4
    """Pings in a row without any byte from the peer, after which the connection ends."""
    dial_s: float = 30.0
    """Time in which the accepting end connects to the target of a stream."""
    idle_s: float = 4 * 3600.0
    """Time without bytes after which the accepting end closes a stream. Source: kubelet StreamingConnectionIdleTimeout
    (1.36).
    """
    linger_s: float = 10.0
    """Time for the last bytes of a stream that was closed."""


DEFAULT_LIMITS = StreamLimits()
