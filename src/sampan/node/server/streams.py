"""Streams of exec and attach, independent of the client's protocol."""

from dataclasses import dataclass
from typing import Protocol


class ByteSource(Protocol):
    """Stream of bytes from the client."""

    async def read(self) -> bytes:
        """Return at least one byte; empty at the end."""
        ...


class Sink(Protocol):
    """Stream of bytes to the client."""

    async def write(self, data: bytes) -> None:
        """Send data, and wait until the client has read most of it. Raises `OSError` if it no longer reads."""
        ...

    async def close(self) -> None:
        """End the stream."""
        ...


@dataclass(frozen=True, slots=True)
class CommandStreams:
    """The client's streams. None for a stream that the request does not select."""

    error: Sink
    """Stream for the exit status."""
    status_as_json: bool
    """True if the exit status is a Status object. If False, only failures are sent, as text."""
    stdin: ByteSource | None = None
    stdout: Sink | None = None
    stderr: Sink | None = None
    resize: ByteSource | None = None
    """Terminal sizes, as a sequence of JSON objects."""
