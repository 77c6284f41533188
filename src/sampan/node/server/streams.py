"""What the protocols of a node have in common: one direction of one stream."""

from dataclasses import dataclass
from typing import Protocol


class Source(Protocol):
    """Bytes from the client."""

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing at the end."""
        ...


class Sink(Protocol):
    """Bytes to the client."""

    async def write(self, data: bytes) -> None:
        """Send, and wait until the client has read most of it. Raises `OSError` when it reads no more."""
        ...

    async def close(self) -> None:
        """Nothing more is sent."""
        ...


@dataclass(frozen=True, slots=True)
class CommandStreams:
    """The streams of a process, at the client's end. None: not wanted."""

    error: Sink
    """Where is told how it ended."""
    status_as_json: bool
    """Whether that is told as a Status, in success too; otherwise as a text, and only of failures."""
    stdin: Source | None = None
    stdout: Sink | None = None
    stderr: Sink | None = None
    resize: Source | None = None
    """The sizes of the client's terminal, one JSON object after the other."""
