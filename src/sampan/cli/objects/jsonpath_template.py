"""`JsonPathTemplate`: the format `-o jsonpath=…`.

Text outside braces is printed unchanged. `{.path}` prints the values at a path, `{range .path}…{end}` repeats the part
in between for each of them, `{"text"}` prints a text.

Source: client-go util/jsonpath/jsonpath.go, cli-runtime pkg/printers/jsonpath.go (1.36).
"""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from sampan.cli.objects.go_text import go_text
from sampan.core.json.path import JsonPath

_action = re.compile(r"""\{((?:[^{}"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')*)\}""", re.DOTALL).match
_is_range = re.compile(r"\s*range\b(.*)", re.DOTALL).fullmatch


@dataclass(slots=True)
class _Range:
    """Part of a template that is printed once, or once for each value at `path`."""

    path: JsonPath | None
    parts: "list[str | JsonPath | _Range]" = field(default_factory=list)


class JsonPathTemplate:
    """Compiled template. Raises `ValueError` for malformed text."""

    def __init__(self, text: str) -> None:
        self._root = _parse(text)

    def render(self, obj: Any) -> str:
        """Return the output for an object. Missing keys print nothing. Raises `ValueError`."""
        return "".join(_rendered(self._root, obj))

    def values(self, obj: Any) -> list[Any]:
        """Return all values of the output, without the texts. Raises `ValueError`."""
        found: list[Any] = []
        _collect(self._root, obj, found)
        return found


def _parse(text: str) -> _Range:
    open_ranges = [_Range(None)]
    position = 0
    while position < len(text):
        parts = open_ranges[-1].parts
        if text[position] != "{":
            end = text.find("{", position)
            end = len(text) if end < 0 else end
            parts.append(text[position:end])
            position = end
            continue
        match = _action(text, position)
        if match is None:
            raise ValueError("unclosed action")
        position = match.end()
        inside = match[1].strip(" ")
        if found := _is_range(inside):
            open_ranges.append(_Range(JsonPath(found[1].strip())))
            parts.append(open_ranges[-1])
        elif inside == "end":
            if len(open_ranges) == 1:
                raise ValueError("not in range, nothing to end")
            open_ranges.pop()
        else:
            parts.append(JsonPath(inside))
    if len(open_ranges) > 1:
        raise ValueError("{range} without {end}")
    return open_ranges[0]


def _rendered(part: _Range, obj: Any) -> list[str]:
    texts: list[str] = []
    for value in [obj] if part.path is None else part.path.evaluate(obj):
        for inner in part.parts:
            if isinstance(inner, str):
                texts.append(inner)
            elif isinstance(inner, JsonPath):
                texts.append(" ".join(map(_text, inner.evaluate(value))))
            else:
                texts += _rendered(inner, value)
    return texts


def _collect(part: _Range, obj: Any, found: list[Any]) -> None:
    for value in [obj] if part.path is None else part.path.evaluate(obj):
        for inner in part.parts:
            if isinstance(inner, JsonPath):
                found += inner.evaluate(value)
            elif isinstance(inner, _Range):
                _collect(inner, value, found)


def _text(value: Any) -> str:
    """Return a value as the template prints it: maps and lists as JSON."""
    if isinstance(value, dict | list):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return "" if value is None else go_text(value)
