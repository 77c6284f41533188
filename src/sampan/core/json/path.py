"""Kubernetes' JSONPath, as used by printer columns and selectable fields, compiled to functions.

`.spec.a`, `.spec['a\\.b']` (a dot in a key needs the backslash, as in Kubernetes), `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`,
`..name`, `[0,2]`, `[?(@.type=="Ready")]`.
Source: client-go util/jsonpath (1.36).
"""

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from sampan.core.numbers.integers import parse_integer

_RESULTS_MAX: Final = 100_000
"""Limit of intermediate results, so that no path can exhaust memory."""

Step = Callable[[list[Any]], list[Any]]


class _Failed(Exception):
    """The path does not fit the object."""


class JsonPath:
    """Compiled path. Raises `ValueError` when the text is not a valid path."""

    __slots__ = ("_names", "_steps", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._names: tuple[str, ...] | None = _simple_names(text)
        self._steps: tuple[Step, ...] = () if self._names is not None else tuple(_Parser(text).parse())

    def find(self, obj: Any) -> list[Any]:
        """Return all values at the path; none when a key is missing or the path does not fit the object."""
        if self._names is not None:
            for name in self._names:
                if type(obj) is not dict or name not in obj:
                    return []
                obj = obj[name]
            return [obj]
        try:
            return _run(self._steps, [obj])
        except _Failed:
            return []

    def evaluate(self, obj: Any) -> list[Any]:
        """Return all values at the path. Unlike `find`, raises `ValueError` when the path does not fit the object."""
        if self._names is not None:
            return self.find(obj)
        try:
            return _run(self._steps, [obj])
        except _Failed as error:
            raise ValueError(str(error)) from None

    def first(self, obj: Any, default: Any = None) -> Any:
        """Return the first value at the path, or `default`."""
        found = self.find(obj)
        return found[0] if found else default

    def __repr__(self) -> str:
        return f"JsonPath({self.text!r})"


_is_simple = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_-]*)+").fullmatch


def _simple_names(text: str) -> tuple[str, ...] | None:
    """Return the keys of a path that consists only of keys, else None."""
    return tuple(text[1:].split(".")) if _is_simple(text) else None


def _run(steps: tuple[Step, ...] | list[Step], values: list[Any]) -> list[Any]:
    for step in steps:
        values = step(values)
        if len(values) > _RESULTS_MAX:
            raise _Failed("too many results")
    return values


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]


def _constant(constant: Any) -> Step:
    return lambda values: [constant] * len(values)


def _text(text: str) -> Step:
    return lambda values: [text]


def _fail(reason: str) -> Step:
    def step(values: list[Any]) -> list[Any]:
        raise _Failed(reason)

    return step


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _wildcard(values: list[Any]) -> list[Any]:
    return [child for value in values for child in _children(value)]


def _descend(values: list[Any]) -> list[Any]:
    """Return each non-empty value and all its descendants, outermost first."""
    found: list[Any] = []
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, str) and value:
            found.append(value)
        elif isinstance(value, dict | list) and value:
            found.append(value)
            pending.extend(reversed(_children(value)))
        if len(found) > _RESULTS_MAX:
            raise _Failed("too many results")
    return found


def _array(start: int | None, stop: int | None, step: int | None, *, single: bool) -> Step:
    """Select `[start:stop:step]`, or `[start]` if `single`. Bounds outside the list are errors, as in Kubernetes."""

    def select(values: list[Any]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise _Failed("not array or slice")
            low, high = _bounds(start, stop, len(value), single=single)
            if low == high:
                return found
            if (
                not 0 <= low < len(value)
                or not 0 <= high <= len(value)
                or low > high
                or (step is not None and step < 1)
            ):
                raise _Failed("array index out of bounds")
            found += value[low : high : step or 1]
        return found

    return select


def _bounds(start: int | None, stop: int | None, length: int, *, single: bool) -> tuple[int, int]:
    low = start or 0
    high = low + 1 if single else length if stop is None else stop
    if low < 0:
        low += length
    if high < 0 or (single and high == 0):
        high += length
    return low, high


def _union(alternatives: list[list[Step]]) -> Step:
    return lambda values: [found for steps in alternatives for found in _run(steps, values)]


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
}


def _compare(sign: str, left: Any, right: Any) -> bool:
    comparison = _COMPARISONS.get(sign)
    if comparison is None or type(left) is not type(right) or not isinstance(left, bool | int | float | str):
        raise _Failed("incompatible types for comparison")
    if isinstance(left, bool) and sign not in ("==", "!="):
        raise _Failed("invalid type for comparison")
    return comparison(left, right)


def _filter(left: list[Step], sign: str, right: list[Step]) -> Step:
    def passes(item: Any) -> bool:
        lefts, rights = _run(left, [item]), _run(right, [item])
        if not lefts or not rights:
            return False
        if len(lefts) > 1 or len(rights) > 1:
            raise _Failed("can only compare one element at a time")
        return _compare(sign, lefts[0], rights[0])

    return lambda values: [item for value in values for item in _items(value) if passes(item)]


def _filter_exists(steps: list[Step]) -> Step:
    def passes(item: Any) -> bool:
        try:
            return bool(_run(steps, [item]))
        except _Failed:
            return False

    return lambda values: [item for value in values for item in _items(value) if passes(item)]


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Failed("not array or slice and cannot be filtered")
    return value


_next_name = re.compile(r"(?:\\.|[^\\ \t\r\n.,\[\]$@{}])*", re.DOTALL).match
_next_word = re.compile(r"[^ \t\r\n.,\[\]$@{}]*").match
_next_number = re.compile(r"[+-]?[0-9.]*").match
_is_key = re.compile(r"'([^']*)'").fullmatch
_is_slice = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?").fullmatch
_split_filter = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL).fullmatch
_unescape = re.compile(r"\\(.)", re.DOTALL).sub
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NESTING_MAX = 20


class _Parser:
    """Parser of one path (without braces)."""

    def __init__(self, text: str, nesting: int = 0) -> None:
        if nesting > _NESTING_MAX:
            raise ValueError("too deeply nested path")
        self._text = text
        self._position = 0
        self._nesting = nesting
        self._steps: list[Step] = []
        self._recursive = False

    def parse(self) -> list[Step]:
        while self._position < len(self._text) and self._text[self._position] != "}":
            after_descent, self._recursive = self._recursive, False
            self._element(after_descent)
        return self._steps

    def _inside(self, text: str) -> list[Step]:
        return _Parser(text, self._nesting + 1).parse()

    def _element(self, after_descent: bool) -> None:
        text, position = self._text, self._position
        char = text[position]
        if text.startswith("[?(", position):
            self._parse_filter()
        elif text.startswith("..", position):
            self._parse_descent(after_descent)
        elif char in "\r\n":
            raise ValueError("unclosed action")
        elif char in " @$":
            self._position += 1
            self._recursive = after_descent
        elif char == "[":
            self._parse_array()
        elif char in "\"'":
            self._parse_quote(char)
        elif char == ".":
            self._position += 1
            self._parse_field()
        elif char in "+-" or char.isdigit():
            self._parse_number()
        elif char == "_" or char.isalpha():
            self._parse_identifier()
        else:
            raise ValueError(f"unrecognized character in action: U+{ord(char):04X} '{char}'")

    def _match(self, match: Callable[[str, int], "re.Match[str] | None"]) -> str:
        found = match(self._text, self._position)
        assert found is not None
        self._position = found.end()
        return found[0]

    def _parse_field(self) -> None:
        name = self._match(_next_name)
        self._steps.append(_wildcard if name == "*" else _field(name.replace("\\", "")))

    def _parse_descent(self, after_descent: bool) -> None:
        if after_descent:
            raise ValueError("invalid multiple recursive descent")
        self._position += 2
        self._steps.append(_descend)
        following = self._text[self._position : self._position + 1]
        if following == "_" or following.isalnum():
            self._parse_field()
        else:
            self._recursive = True

    def _parse_number(self) -> None:
        text = self._match(_next_number)
        try:
            self._steps.append(_constant(float(text) if "." in text else parse_integer(text)))
        except ValueError:
            raise ValueError(f"cannot parse number {text}") from None

    def _parse_identifier(self) -> None:
        word = self._match(_next_word)
        if word in ("true", "false"):
            self._steps.append(_constant(word == "true"))
        else:
            self._steps.append(_fail(f"unrecognized identifier {word}"))

    def _parse_quote(self, quote: str) -> None:
        end = self._position
        while True:
            end += 1
            if end >= len(self._text) or self._text[end] == "\n":
                raise ValueError("unterminated quoted string")
            if self._text[end] == quote and self._text[end - 1] != "\\":
                break
        raw = self._text[self._position + 1 : end]
        self._steps.append(_text(_unescape(lambda m: _ESCAPES.get(m[1], m[1]), raw)))
        self._position = end + 1

    def _parse_array(self) -> None:
        end = self._text.find("]", self._position)
        if end < 0 or "\n" in self._text[self._position : end]:
            raise ValueError("unterminated array")
        text = self._text[self._position + 1 : end]
        self._position = end + 1
        alternatives = text.split(",")
        if len(alternatives) > 1:
            self._steps.append(_union([self._inside(f"[{part.strip(' ')}]") for part in alternatives]))
        elif key := _is_key(text):
            self._steps += self._inside(f".{key[1]}")
        else:
            self._steps.append(self._slice(":" if text == "*" else text))

    @staticmethod
    def _slice(text: str) -> Step:
        match = _is_slice(text)
        if match is None:
            raise ValueError(f"invalid array index {text}")
        parts = [part.lstrip(":") if part else "" for part in match.groups()]
        try:
            numbers = [parse_integer(part, function="Atoi") if part else None for part in parts]
        except ValueError:
            raise ValueError(f"array index {text} is not a number") from None
        return _array(numbers[0], numbers[1], numbers[2], single=match[2] is None)

    def _parse_filter(self) -> None:
        start = self._position + 3
        end = self._filter_end(start)
        self._position = end + 2
        if self._text[end + 1 : end + 2] != "]":
            raise ValueError("unclosed array expect ]")
        text = self._text[start:end]
        match = _split_filter(text)
        if match is None:
            self._steps.append(_filter_exists(self._inside(text)))
        else:
            left, sign, right = match.groups()
            self._steps.append(_filter(self._inside(left), sign, self._inside(right)))

    def _filter_end(self, position: int) -> int:
        """Return the position of the closing parenthesis: the first one outside of quotes."""
        quote = ""
        closed = False
        while position < len(self._text) and self._text[position] != "\n":
            char = self._text[position]
            if char in "\"'":
                if not quote:
                    quote = char
                elif char == quote and self._text[position - 1] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                return position
            position += 1
        raise ValueError("unterminated filter")
