"""Format errors for logs: one line for errors of normal operation, a traceback for programming errors.

The text of a refusal of the server, a broken connection or a timeout explains it. Any other exception indicates a bug,
and only its traceback shows where.
"""

import logging
from typing import Final

from sampan.client.errors import AlreadyExists, ApiError, ClientError, Conflict, Forbidden, NotFound
from sampan.core.errors import StatusError
from sampan.operator.request import RetryLater, TerminalError

_EXPECTED: Final = (ClientError, StatusError, OSError, RetryLater, TerminalError)
"""Errors of normal operation. `OSError` includes `TimeoutError` and `ConnectionError`."""
ERROR_CHARACTERS_MAX: Final = 1000
"""Limit of an error's text in records."""
_NAMESPACE_ENDS: Final = "NamespaceTerminating"
"""Cause in the response to a create in a namespace that is being deleted."""


def is_expected(error: BaseException) -> bool:
    """Return True if the error can happen without a bug. A group is expected if all its errors are."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_expected(each) for each in error.exceptions)
    return isinstance(error, _EXPECTED)


def is_race(error: BaseException) -> bool:
    """Return True if another writer was first, or the namespace is being deleted: the next attempt sees the new state.

    A group is a race if all of its errors are.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_race(each) for each in error.exceptions)
    if isinstance(error, Forbidden):
        return error.has_cause(_NAMESPACE_ENDS)
    return isinstance(error, AlreadyExists | Conflict | NotFound | RetryLater)


def traceback_of(error: Exception) -> Exception | None:
    """Return the value for `exc_info`: the error, or None if its text explains it."""
    return None if is_expected(error) else error


def retry_level(error: BaseException) -> int:
    """Return the level of a log line about a failure that is retried: a warning, or an error for a bug."""
    return logging.WARNING if is_expected(error) else logging.ERROR


def one_line(error: BaseException) -> str:
    """Return type and text of an error without line breaks."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(one_line(each) for each in error.exceptions)
    text = error.message if isinstance(error, ApiError) else str(error)
    name = type(error).__name__
    return f"{name}: {' '.join(text.split())}" if text else name


def cut(text: str, characters_max: int) -> str:
    """Return a text, shortened to a number of characters."""
    return text if len(text) <= characters_max else f"{text[: characters_max - 1]}…"
