"""Limits of one body: nesting and number of messages.

An empty message takes two bytes of a body but a few hundred of memory, so limiting the size of a body is not enough.
"""

from typing import Final

from sampan.wire.json import DecodeError

LEVELS_MAX: Final = 64
"""Limit of nested messages in a body; each can be two levels of JSON."""

MESSAGES_MAX: Final = 200_000
"""Limit of messages and map entries in a request body."""


class DecodeBudget:
    """Remaining budget for decoding one body."""

    __slots__ = ("levels", "messages")

    def __init__(self, messages: int = MESSAGES_MAX) -> None:
        self.levels = LEVELS_MAX
        self.messages = messages

    def enter(self) -> None:
        """Count a message and a level of nesting; the decoder restores the level at the end. Raises `DecodeError`."""
        if not self.levels:
            raise DecodeError("exceeded max depth")
        self.levels -= 1
        self.count()

    def count(self) -> None:
        """Count a message or a map entry. Raises `DecodeError`."""
        if not self.messages:
            raise DecodeError("too many messages")
        self.messages -= 1
