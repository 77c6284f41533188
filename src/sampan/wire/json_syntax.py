"""Errors in a JSON text, in Go's words: the first syntax error, and duplicate keys.

Both functions run only on bodies that are known to have an error. They do not recurse, so nesting cannot overflow the
stack.
Source: Go's encoding/json scanner.go; sigs.k8s.io/json kubernetes_patch.go.
"""

import re
from collections.abc import Iterable
from operator import itemgetter
from typing import Final

from sampan.core.deep_json import DEPTH_MAX, LEVELS_MAX
from sampan.core.field import quote
from sampan.core.go_text import END_OF_JSON, invalid_character

_DUPLICATES_MAX: Final = 100

_space = re.compile(rb"[ \t\r\n]*").match
_string_part = re.compile(rb'[^"\\\x00-\x1f]*').match
_digits = re.compile(rb"[0-9]*").match


_UNFINISHED = (
    "in literal",
    "in numeric literal",
    "after decimal point",
    "in exponent",
    "in string escape",
    "in \\u hexadecimal",
)
"""Contexts in which Go's scanner reports the end of input as an unexpected space."""


class _Broken(Exception):
    """Syntax error at this position; `context` is what the scanner expected, in Go's words."""

    def __init__(self, position: int, context: str) -> None:
        super().__init__(context)
        self.position = position
        self.context = context


def syntax_error(body: bytes) -> str | None:
    """Return Go's message for the first syntax error, or None when there is none."""
    try:
        _scan(body)
    except _Broken as broken:
        if broken.position < len(body):
            return invalid_character(body[broken.position], broken.context)
        if broken.context.startswith(_UNFINISHED):
            return invalid_character(0x20, broken.context)
        return END_OF_JSON
    return None


def _skip_space(body: bytes, position: int) -> int:
    match = _space(body, position)
    return match.end() if match else position


def _scan(body: bytes) -> None:
    """Scan the whole text; raise `_Broken` where it is not JSON."""
    closers: list[int] = []
    position = _skip_space(body, 0)
    while True:
        position = _value(body, position, closers)
        if position < 0:
            position = -position
            continue
        position = _after_value(body, position, closers)
        if not closers:
            break
    if position < len(body):
        raise _Broken(position, "after top-level value")


def _value(body: bytes, position: int, closers: list[int]) -> int:
    """Return the position after one scalar or empty collection.

    For a collection with items, returns minus the position of its first item, and adds its closing bracket to
    `closers`.
    """
    char = body[position : position + 1]
    if char not in (b"{", b"["):
        return _scalar(body, position)
    if len(closers) >= DEPTH_MAX:
        raise _Broken(position, "exceeded max depth")
    inside = _skip_space(body, position + 1)
    if char == b"[":
        if body[inside : inside + 1] == b"]":
            return inside + 1
        closers.append(0x5D)
        return -inside
    if body[inside : inside + 1] == b"}":
        return inside + 1
    closers.append(0x7D)
    return -_key(body, inside)


def _key(body: bytes, position: int) -> int:
    if body[position : position + 1] != b'"':
        raise _Broken(position, "looking for beginning of object key string")
    position = _skip_space(body, _string(body, position + 1))
    if body[position : position + 1] != b":":
        raise _Broken(position, "after object key")
    return _skip_space(body, position + 1)


def _after_value(body: bytes, position: int, closers: list[int]) -> int:
    """Skip closing brackets, and a comma (and key); return the position of the next value."""
    while True:
        position = _skip_space(body, position)
        if not closers:
            return position
        char = body[position] if position < len(body) else -1
        if char == closers[-1]:
            closers.pop()
            position += 1
            continue
        in_object = closers[-1] == 0x7D
        if char != 0x2C:
            raise _Broken(position, "after object key:value pair" if in_object else "after array element")
        position = _skip_space(body, position + 1)
        return _key(body, position) if in_object else position


def _scalar(body: bytes, position: int) -> int:
    char = body[position : position + 1]
    if char == b'"':
        return _string(body, position + 1)
    if char == b"-" or char.isdigit():
        return _number(body, position)
    for word in (b"true", b"false", b"null"):
        if char == word[:1]:
            return _word(body, position, word)
    raise _Broken(position, "looking for beginning of value")


def _word(body: bytes, position: int, word: bytes) -> int:
    for offset in range(1, len(word)):
        if body[position + offset : position + offset + 1] != word[offset : offset + 1]:
            context = f"in literal {word.decode()} (expecting '{chr(word[offset])}')"
            raise _Broken(position + offset, context)
    return position + len(word)


def _string(body: bytes, position: int) -> int:
    while True:
        match = _string_part(body, position)
        position = match.end() if match else position
        char = body[position : position + 1]
        if char == b'"':
            return position + 1
        if char != b"\\":
            raise _Broken(position, "in string literal")
        escape = body[position + 1 : position + 2]
        if escape == b"u":
            for offset in range(2, 6):
                if body[position + offset : position + offset + 1] not in _HEX:
                    raise _Broken(position + offset, "in \\u hexadecimal character escape")
            position += 6
        elif escape and escape in b'bfnrt\\/"':
            position += 2
        else:
            raise _Broken(position + 1, "in string escape code")


_HEX = frozenset(bytes([byte]) for byte in b"0123456789abcdefABCDEF")


def _some_digits(body: bytes, position: int, context: str) -> int:
    match = _digits(body, position)
    end = match.end() if match else position
    if end == position:
        raise _Broken(position, context)
    return end


def _number(body: bytes, position: int) -> int:
    if body[position : position + 1] == b"-":
        position += 1
    if body[position : position + 1] == b"0":
        position += 1
    else:
        position = _some_digits(body, position, "in numeric literal")
    if body[position : position + 1] == b".":
        position = _some_digits(body, position + 1, "after decimal point in numeric literal")
    if body[position : position + 1] in (b"e", b"E"):
        position += 1
        if body[position : position + 1] in (b"+", b"-"):
            position += 1
        position = _some_digits(body, position, "in exponent of numeric literal")
    return position


_next_event = re.compile(r'[{}\[\],]|("(?:[^"\\]|\\.)*")\s*(:?)', re.DOTALL).search
_escape = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _unescape(text: str) -> str:
    return _escape.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPES.get(m[2], m[2]), text)


class _Level:
    """Open collection: its path ("" if it is deep), its keys so far (None in a list), and the current index or key."""

    __slots__ = ("index", "is_deep", "keys", "path", "step")

    def __init__(self, path: str, *, is_map: bool, is_deep: bool) -> None:
        self.path = path
        self.is_deep = is_deep
        self.keys: set[str] | None = set() if is_map else None
        self.index = 0
        self.step = ""

    def child_path(self) -> str:
        if self.keys is None:
            return f"{self.path}[{self.index}]"
        return f"{self.path}.{self.step}" if self.path or self.is_deep else self.step


class Duplicates(list[str]):
    """List of `duplicate field "spec.x"`, one for each key that occurs more than once in its map, in text order."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, int] = {}
        self._repeated: dict[str, int] = {}

    def note(self, path: str, place: int) -> None:
        """Record the position of a field."""
        self._places.setdefault(path, place)

    def note_again(self, path: str, place: int) -> None:
        """Record the position of a field that occurred before."""
        if path not in self._repeated and len(self) < _DUPLICATES_MAX:
            self._repeated[path] = place
            self.append(f"duplicate field {quote(path)}")

    def with_unknown(self, unknown: Iterable[str]) -> list[str]:
        """Return duplicate and unknown fields in text order, as Go's decoder finds them.

        Skips duplicates inside an unknown field, because Go does not decode it.
        """
        unknown_paths = list(unknown)
        found = [(self._places.get(path, -1), f"unknown field {quote(path)}") for path in unknown_paths]
        found += [
            (place, f"duplicate field {quote(path)}")
            for path, place in self._repeated.items()
            if not any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in unknown_paths)
        ]
        return [text for _, text in sorted(found, key=itemgetter(0))]


def duplicate_fields(text: str) -> Duplicates:
    """Return the duplicate fields, at most 100. The text must be JSON."""
    found = Duplicates()
    levels: list[_Level] = []
    position = 0
    while (match := _next_event(text, position)) is not None:
        position = match.end()
        char = text[match.start()]
        if char == '"':
            if match[2] and levels and levels[-1].keys is not None:
                _note_key(levels, match[1][1:-1], position, found)
        elif char in "{[":
            # The paths of all levels together grow with the square of the depth.
            path = levels[-1].child_path() if 0 < len(levels) < LEVELS_MAX else ""
            levels.append(_Level(path, is_map=char == "{", is_deep=len(levels) >= LEVELS_MAX))
        elif char == ",":
            levels[-1].index += 1
        else:
            levels.pop()
    return found


def _note_key(levels: list[_Level], raw: str, place: int, found: Duplicates) -> None:
    level = levels[-1]
    key = _unescape(raw) if "\\" in raw else raw
    level.step = key
    assert level.keys is not None
    if key in level.keys:
        found.note_again(_path(levels), place)
        return
    level.keys.add(key)
    if len(levels) <= LEVELS_MAX:
        found.note(level.child_path(), place)


def _path(levels: list[_Level]) -> str:
    """Return the path of the current field."""
    first = levels[min(len(levels), LEVELS_MAX) - 1].child_path()
    return first + "".join(level.child_path() for level in levels[LEVELS_MAX:])
