"""Texts that match a pattern of a schema."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from sampan.schema.pattern import compile_pattern
from sampan.schema.regex.fallback.charset import Charset, contains
from sampan.schema.regex.fallback.nodes import Characters, Choice, Node, RegexError, Repeat, Sequence
from sampan.schema.regex.fallback.parser import parse
from sampan.testing.generated.choices import LETTERS, Choices, pick

_TRIES: Final = 20
_REPEATS_MAX: Final = 6
_USUAL: Final = LETTERS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@ "
_WRONG: Final = ("", "%", "A b", "-", "a", "0", "%%%" * 30, "\n")


class NoText(ValueError):
    """No text was found for a pattern."""


def matching(pattern: str, choices: Choices, least: int = 0, most: int = 40) -> str:
    """Return a text that matches a pattern, within limits of its length. Raises `NoText`."""
    try:
        tree, matches = _tree(pattern), compile_pattern(pattern)
    except (RegexError, ValueError) as error:
        raise NoText(str(error)) from error
    text = ""
    for extra in range(_TRIES):
        # A pattern such as `^[a-z]+$` takes its length from its repeats: try longer ones if the text is too short.
        text = "".join(_texts(tree, choices, extra * max(least, 1) // 2))
        if len(text) > most:
            text = "".join(_texts(tree, choices, 0))
        if least <= len(text) <= most and matches(text):
            return text
    raise NoText(f"{pattern!r} has no text of {least} to {most} characters that the generator finds")


def not_matching(pattern: str, least: int = 0, most: int | None = None) -> str | None:
    """Return a text of a valid length that does not match a pattern; None if none is found."""
    try:
        matches = compile_pattern(pattern)
    except ValueError:
        return None
    sized = (each.ljust(least, "%")[:most] for each in _WRONG)
    return next((each for each in sized if len(each) >= least and not matches(each)), None)


@lru_cache(256)
def _tree(pattern: str) -> Node:
    return parse(pattern)


def _texts(node: Node, choices: Choices, extra: int) -> Iterator[str]:
    """Yield the parts of a text. Positions (`^`, `$`) are judged at the end. `extra`: add so many repeats."""
    match node:
        case Characters(charset):
            yield _character(charset, choices)
        case Sequence(parts):
            for part in parts:
                yield from _texts(part, choices, extra)
        case Choice(parts):
            yield from _texts(pick(choices, parts), choices, extra)
        case Repeat(part, least, most):
            highest = least + _REPEATS_MAX + extra if most is None else min(most, least + _REPEATS_MAX + extra)
            for _ in range(choices.integer(min(least + extra, highest), highest)):
                yield from _texts(part, choices, 0)


def _character(charset: Charset, choices: Choices) -> str:
    usual = _usual(charset)
    if usual:
        return pick(choices, usual)
    low, high = charset[0]
    return chr(choices.integer(low, min(high, low + 50)))


@lru_cache(1024)
def _usual(charset: Charset) -> str:
    return "".join(each for each in _USUAL if contains(charset, ord(each)))
