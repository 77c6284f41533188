"""Methods: those that change nothing, and those that the parser of HTTP/1 does not know.

To Kubernetes the latter are methods as others: most paths answer 405.
"""

import re
from typing import Final

import httptools

SAFE: Final = frozenset({"GET", "HEAD"})
"""Nothing is lost when a request of these is given up in the middle."""
METHOD_BYTES_MAX: Final = 32
"""A longer method that nobody knows must come in one piece."""
_LETTERS: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TOKEN: Final = re.compile(_LETTERS + rb"(?= )")
_BEGINNING: Final = re.compile(_LETTERS)
_STAND_IN: Final = b"POST"
"""Whether there is a body is told by the headers, as for methods of which nothing is known."""


def begins_method(data: bytes) -> bool:
    """Whether it is the beginning of a method, of which more may come."""
    return _BEGINNING.fullmatch(data) is not None


def stand_in(head: bytes) -> tuple[str, bytes]:
    """The unknown method that a request begins with, and the request with one in its place that the parser knows. An
    empty method: it is known, or no method at all.
    """
    found = _TOKEN.match(head)
    if found is None or _is_known(found[0]):
        return "", head
    return found[0].decode("ascii"), _STAND_IN + head[found.end() :]


def _is_known(method: bytes) -> bool:
    try:
        httptools.HttpRequestParser(object()).feed_data(method + b" ")
    except httptools.HttpParserInvalidMethodError:
        return False
    return True
