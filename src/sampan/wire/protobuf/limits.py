"""What one body may cost: how deep its messages go, and how many there are.

An empty message takes two bytes of a body and a few hundred of memory, so the size of a body is not bound enough.
"""

from typing import Final

from sampan.wire.json import DecodeError

LEVELS_MAX: Final = 64
"""Messages within messages that a body may have; each can be two levels of JSON."""

MESSAGES_MAX: Final = 200_000
"""Messages and map entries that the body of a request may have."""


class Limits:
    """What is left to the reading of one body."""

    __slots__ = ("levels", "messages")

    def __init__(self, messages: int = MESSAGES_MAX) -> None:
        self.levels = LEVELS_MAX
        self.messages = messages

    def enter(self) -> None:
        """A message begins; at its end the reader gives the level back. Raises `DecodeError`."""
        if not self.levels:
            raise DecodeError("exceeded max depth")
        self.levels -= 1
        self.count()

    def count(self) -> None:
        """A message or a map entry begins. Raises `DecodeError`."""
        if not self.messages:
            raise DecodeError("too many messages")
        self.messages -= 1
