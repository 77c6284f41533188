"""The parser: httptools, which is llhttp. No other module imports it.

httptools calls `on_…` methods of the object passed to it; `HttpRequestParser` and `HttpResponseParser` are its own
names. It refuses what `wire/http1` promises to refuse; `tests/wire/http1` hold it to that.
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
