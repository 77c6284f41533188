"""The parser: httptools, a binding of llhttp. No other module imports httptools.

httptools calls `on_…` methods of the object passed to it; `HttpRequestParser` and `HttpResponseParser` are names of
httptools. `tests/wire/http1` verify that it refuses the bytes that `wire/http1` promises to refuse.
"""

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserInvalidMethodError,
    HttpParserUpgrade,
    HttpRequestParser,
    HttpResponseParser,
)

__all__ = [
    "HttpParserCallbackError",
    "HttpParserError",
    "HttpParserInvalidMethodError",
    "HttpParserUpgrade",
    "HttpRequestParser",
    "HttpResponseParser",
    "is_known_method",
]


def is_known_method(method: bytes) -> bool:
    """Report whether the parser has a method in its list."""
    try:
        HttpRequestParser(object()).feed_data(method + b" ")
    except HttpParserInvalidMethodError:
        return False
    return True
