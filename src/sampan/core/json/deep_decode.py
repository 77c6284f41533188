"""Decode JSON that is nested deeply: parts that exceed the levels of recursive code become `DeepJson` leaves.

One pass finds the brackets outside of strings. The text is divided into parts of `LEVELS_WALKED` levels. The innermost
are decoded and encoded first, and are replaced in the text around them by a number that no body can foresee. So every
part is decoded by the usual decoder, and time grows with the size of the text only.
"""

import re
import secrets
from collections.abc import Callable
from typing import Any, Final

import orjson

from sampan.core.deep_json import DEPTH_MAX, LEVELS_MAX, LEVELS_WALKED, DeepJson, dumps
from sampan.core.json.values import with_whole_numbers

_UP_TO_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([{}\[\]]|\Z)', re.DOTALL)
"""Text up to the next bracket. An unterminated string matches too: otherwise each quote in it would start a search."""
_OPENING: Final = (b"{", b"[")
_RANDOM_BITS: Final = 61


class TooDeep(ValueError):
    """The text has more than `DEPTH_MAX` levels; `bracket` is the first one beyond."""

    def __init__(self, bracket: bytes) -> None:
        super().__init__("exceeded max depth")
        self.bracket = bracket


class Unbalanced(ValueError):
    """The brackets of a text do not match."""


class _Part:
    """Part of the text, from an opening bracket that is inside of `level` other ones, a multiple of `LEVELS_WALKED`.

    `texts` contains it up to `copied`, with numbers in place of `leaves`. `deepest` counts levels of the whole text.
    """

    __slots__ = ("copied", "deepest", "leaves", "level", "start", "texts")

    def __init__(self, start: int, level: int) -> None:
        self.start = self.copied = start
        self.level = level
        self.texts: list[bytes] = []
        self.leaves: dict[int, Any] = {}
        self.deepest = 0


def inflated(leaf: DeepJson) -> Any:
    """Return the value of a leaf with all its levels. It must be `cut` before recursive code sees it."""
    return decode_deep(leaf.text, orjson.loads, leaf_of=_itself)


def inflate(value: Any) -> Any:
    """Return a value with all levels of its leaves. Changes its lists and dicts.

    It must be `cut` before recursive code sees it.
    """
    root = [value]
    waiting: list[Any] = [root]
    while waiting:
        one = waiting.pop()
        for key, item in one.items() if one.__class__ is dict else enumerate(one):
            if item.__class__ is DeepJson:
                one[key] = inflated(item)
            elif item.__class__ is dict or item.__class__ is list:
                waiting.append(item)
    return root[0]


def _itself(value: Any) -> Any:
    return value


def _leaf(value: Any) -> DeepJson:
    return DeepJson(dumps(value, sort=True))


def decode_deep(body: bytes, load: Callable[[bytes], Any], *, leaf_of: Callable[[Any], Any] = _leaf) -> Any:
    """Return the value of a JSON text. `load` decodes a part of at most 254 levels, `leaf_of` makes a leaf of one.

    Raises `TooDeep`, `Unbalanced`, and what `load` raises.
    """
    number = secrets.randbits(_RANDOM_BITS)
    parts, depth = [_Part(0, 0)], 0
    for found in _UP_TO_BRACKET.finditer(body):
        if not found[1]:
            break
        if found[1] in _OPENING:
            if depth >= DEPTH_MAX:
                raise TooDeep(found[1])
            if depth and depth % LEVELS_WALKED == 0:
                parts.append(_Part(found.end() - 1, depth))
            depth += 1
            continue
        if not depth:
            raise Unbalanced
        part = parts[-1]
        part.deepest = max(part.deepest, depth)
        depth -= 1
        if depth and depth % LEVELS_WALKED == 0:
            parts.pop()
            number += 1
            _close(part, parts[-1], body, found.end(), number, load, leaf_of)
    if depth:
        raise Unbalanced
    return _value(parts[0], body, len(body), load)


def _close(
    part: _Part,
    around: _Part,
    body: bytes,
    end: int,
    number: int,
    load: Callable[[bytes], Any],
    leaf_of: Callable[[Any], Any],
) -> None:
    """Replace a complete part in the part around it, unless the usual decoder can decode both together."""
    around.deepest = max(around.deepest, part.deepest)
    if part.deepest - around.level <= LEVELS_MAX:
        return
    around.leaves[number] = leaf_of(_value(part, body, end, load))
    around.texts += (body[around.copied : part.start], b" %d " % number)
    around.copied = end


def _value(part: _Part, body: bytes, end: int, load: Callable[[bytes], Any]) -> Any:
    """Return the value of a part with its leaves."""
    value = load(b"".join((*part.texts, body[part.copied : end])))
    if part.leaves:
        _fill(value, part.leaves)
    return with_whole_numbers(value) if part.start else value


def _fill(value: Any, leaves: dict[int, Any]) -> None:
    """Put the leaves where their numbers are."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key, item in list(one.items() if one.__class__ is dict else enumerate(one)):
            if item.__class__ is int:
                if item in leaves:
                    one[key] = leaves[item]
            elif item.__class__ is dict or item.__class__ is list:
                waiting.append(item)
