"""Heads of messages, and the receivers that readers call for each event.

A reader calls `on_head` once, `on_data` for each piece of the body, then `on_end`. The boundaries between pieces have
no meaning.
"""

from typing import Protocol

import msgspec

from sampan.wire.http1.fields import Fields


class RequestHead(msgspec.Struct):
    """Request line and header fields."""

    method: str
    target: bytes
    headers: dict[str, str]
    """Values by name in lower case, decoded as Latin-1. Fields of one name are joined (`fields.joined`)."""
    keep_alive: bool = True
    """True if the client can send another request on the connection."""
    http_1_0: bool = False
    expects_continue: bool = False
    """True if the client waits for `100 Continue` before it sends the body."""
    upgrade: bool = False
    """True for CONNECT and for a request for another protocol. `take_ahead` then returns the bytes after the head."""


class ResponseHead(msgspec.Struct):
    """Status line and header fields."""

    status: int
    fields: Fields
    """Header fields as received, in order."""
    headers: dict[str, str]
    """Values by name in lower case, decoded as UTF-8. Fields of one name are joined (`fields.joined`)."""
    length: int | None = None
    """Value of Content-Length, also in a response to HEAD."""


class RequestReceiver(Protocol):
    """Gets the events of a `RequestReader`."""

    def on_head(self, head: RequestHead) -> None:
        """Begin a request: its head is complete."""

    def on_data(self, data: bytes) -> None:
        """Receive a piece of the body."""

    def on_end(self) -> None:
        """End the request: its body is complete."""


class ResponseReceiver(Protocol):
    """Gets the events of a `ResponseReader`. Interim responses are dropped."""

    def on_head(self, head: ResponseHead) -> None:
        """Begin the response: its head is complete."""

    def on_data(self, data: bytes) -> None:
        """Receive a piece of the body."""

    def on_end(self, *, reusable: bool) -> None:
        """End the response: its body is complete. `reusable`: the server accepts another request on the connection."""
