"""`check_json`, `check_value`: limit the number of objects and lists in a body.

Empty objects and lists take two or three bytes in a body, and some hundred in memory. A million of them would make the
garbage collector block the process for up to a second.
"""

import re
from typing import Any, Final

from sampan.core.deep_json import DEPTH_MAX
from sampan.core.errors import request_entity_too_large
from sampan.core.go_text import invalid_character
from sampan.wire.json import DecodeError

CONTAINERS_MAX: Final = 200_000
"""Limit of objects and lists in one body. An object that can be stored (1.5 MiB) seldom has a tenth of that."""
_BODY_BYTES_MIN: Final = 2 * CONTAINERS_MAX
"""Shortest body that can exceed the limit: each object or list takes two bytes."""
_SCANNED_MAX: Final = 2 * CONTAINERS_MAX
"""Brackets that are searched for deep nesting: about 20 ms."""
_OPENING: Final = b"{["
_NO_BRACKETS: Final = bytes(set(range(256)).difference(b"{}[]"))
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)
"""JSON string. An unterminated one matches too: otherwise the match would be retried at each quote in it."""


def check_json(body: bytes) -> None:
    """Raise 413 if a JSON body has too many objects and lists. Brackets inside of strings do not count.

    If they are also nested too deeply for Go's decoder, raise its `DecodeError`, which clients get as 400.
    """
    if len(body) < _BODY_BYTES_MIN or _brackets(body) <= CONTAINERS_MAX:
        return
    rest = _STRING.sub(b"", body)
    if _brackets(rest) > CONTAINERS_MAX:
        bracket = _too_deep(rest.translate(None, _NO_BRACKETS)[:_SCANNED_MAX])
        if bracket:
            raise DecodeError(invalid_character(bracket, "exceeded max depth"))
        raise _too_many()


def _too_deep(brackets: bytes) -> int:
    """Return the first bracket that opens more levels than Go's decoder accepts, or 0."""
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in _OPENING else -1
        if depth > DEPTH_MAX:
            return bracket
    return 0


def check_value(value: Any, body: bytes) -> None:
    """Raise 413 if `value`, decoded from a body in another format, has too many objects and lists."""
    if len(body) < _BODY_BYTES_MIN:
        return
    waiting, found = [value], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(each for each in one.values() if isinstance(each, dict | list))
        elif isinstance(one, list):
            waiting.extend(each for each in one if isinstance(each, dict | list))
        found += 1
        if found + len(waiting) > CONTAINERS_MAX:
            raise _too_many()


def _brackets(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _too_many() -> Exception:
    return request_entity_too_large(f"the body has more than {CONTAINERS_MAX} objects and lists")
