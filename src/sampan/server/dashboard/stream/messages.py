"""Messages of a page on the stream: open, credit and close."""

from typing import Any, Final

import msgspec

PATH_BYTES_MAX: Final = 8 << 10
CREDIT_MAX: Final = 10_000
"""Maximum number of lines that a subscription may send before the page must give more credit."""
ID_MAX: Final = 1 << 53
"""Numbers up to this one are exact in JavaScript."""


class BadMessage(ValueError):
    """The page broke the protocol. The text is the reason."""


class Impersonated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """User that a request impersonates. It needs the right for that."""

    user: str
    groups: list[str] = []


class Open(msgspec.Struct, frozen=True, tag_field="op", tag="open", forbid_unknown_fields=True):
    """Begin a GET request. Its response gets this id."""

    id: int
    path: str
    """Path with the query."""
    accept: str = "application/json"
    credit: int = 1000
    impersonate: Impersonated | None = None
    background: bool = False
    """The page opens it by itself: the session stays as idle as it is."""


class Credit(msgspec.Struct, frozen=True, tag_field="op", tag="credit", forbid_unknown_fields=True):
    """Let a subscription send more lines."""

    id: int
    add: int


class Close(msgspec.Struct, frozen=True, tag_field="op", tag="close", forbid_unknown_fields=True):
    """End a subscription."""

    id: int


Message = Open | Credit | Close
_DECODER: Final = msgspec.json.Decoder(Message)


def parse_message(text: str | bytes) -> Message:
    """Return a message. **Raises** `BadMessage`."""
    try:
        message: Any = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadMessage(str(error)) from None
    if not 0 <= message.id <= ID_MAX:
        raise BadMessage("id: must be 0 to 2^53")
    if isinstance(message, Open):
        _check_open(message)
    elif isinstance(message, Credit) and not 0 < message.add <= CREDIT_MAX:
        raise BadMessage(f"add: must be 1 to {CREDIT_MAX}")
    found: Message = message
    return found


def _check_open(message: Open) -> None:
    if not 0 < message.credit <= CREDIT_MAX:
        raise BadMessage(f"credit: must be 1 to {CREDIT_MAX}")
    path = message.path
    if not (path.startswith("/") and path.isascii() and path.isprintable()) or " " in path:
        raise BadMessage("path: must be an absolute path with percent-encoding")
    if len(message.path) > PATH_BYTES_MAX or len(message.accept) > PATH_BYTES_MAX:
        raise BadMessage(f"path and accept: must have at most {PATH_BYTES_MAX} characters")
    values = [message.accept]
    if message.impersonate is not None:
        values += [message.impersonate.user, *message.impersonate.groups]
    if not all(value.isprintable() for value in values):
        raise BadMessage("accept and impersonate: must have printable characters only")
