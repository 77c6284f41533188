"""Streams of exec and attach, independent of the client's protocol."""

from dataclasses import dataclass
from typing import Protocol


class Source(Protocol):
    """Bytes from the client."""

    async def read(self) -> bytes:
        """Return at least one byte; nothing at the end."""
        ...


class Sink(Protocol):
    """Bytes to the client."""

    async def write(self, data: bytes) -> None:
        """Send data, and wait until the client has read most of it. Raises `OSError` if it no longer reads."""
        ...

    async def close(self) -> None:
        """End the stream."""
        ...


@dataclass(frozen=True, slots=True)
class CommandStreams:
    """The client's streams. None: not selected."""

    error: Sink
    """Stream for the exit status."""
    status_as_json: bool
    """True if the exit status is a Status object. If not, only failures are sent, as text."""
    stdin: Source | None = None
    stdout: Sink | None = None
    stderr: Sink | None = None
    resize: Source | None = None
    """Terminal sizes, as a sequence of JSON objects."""
