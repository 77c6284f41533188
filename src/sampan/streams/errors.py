"""Errors of streams. They are `OSError`s, as those of sockets are."""

import errno
import os
from typing import Final

_TEXT_CHARACTERS_MAX: Final = 256


class StreamRefused(OSError):
    """The peer connects to this target for no client of this connection."""


def refusal(name: str, reason: str, text: str) -> OSError:
    """Return the error for a refused stream. `reason`: name of an error number such as `ECONNREFUSED`, or `refused`.

    `name` is that of the peer, which has chosen `reason` and `text`.
    """
    number = getattr(errno, reason, None) if reason.startswith("E") else None
    if isinstance(number, int):
        return OSError(number, os.strerror(number))
    shown = "".join(c if c.isprintable() else "?" for c in text[:_TEXT_CHARACTERS_MAX])
    kind = StreamRefused if reason == "refused" else OSError
    return kind(f"{name}: {shown}")


def reason_of(error: Exception) -> tuple[str, str]:
    """Return the reason and the text of an error, for the peer."""
    if isinstance(error, StreamRefused):
        return "refused", str(error)
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT", ""
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number or 0, "other"), str(error)
