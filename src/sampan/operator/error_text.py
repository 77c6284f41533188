"""How errors look in logs: one line for what happens in normal operation, a traceback for what nobody expected.

A refusal of the server, a broken connection or a timeout is explained by its text. Any other exception points to a
fault in the program, and only its traceback shows where.
"""

from typing import Final

from sampan.client.errors import ApiError, ClientError
from sampan.core.errors import StatusError
from sampan.operator.request import TerminalError

_EXPECTED: Final = (ClientError, StatusError, OSError, TerminalError)
"""`OSError` includes `TimeoutError` and `ConnectionError`."""


def is_expected(error: BaseException) -> bool:
    """Return whether the error can happen without a fault in the program; a group, if all of its errors can."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_expected(each) for each in error.exceptions)
    return isinstance(error, _EXPECTED)


def traceback_of(error: Exception) -> Exception | None:
    """Return what to pass as `exc_info`: the error, or None if its text says enough."""
    return None if is_expected(error) else error


def one_line(error: BaseException) -> str:
    """Return type and text of an error without line breaks."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(one_line(each) for each in error.exceptions)
    text = error.message if isinstance(error, ApiError) else str(error)
    name = type(error).__name__
    return f"{name}: {' '.join(text.split())}" if text else name
