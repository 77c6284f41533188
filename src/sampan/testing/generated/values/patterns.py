"""Texts that match a pattern of a schema."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sampan.schema.regex.fallback.charset import Charset, contains
from sampan.schema.regex.fallback.nodes import Characters, Choice, Node, RegexError, Repeat, Sequence
from sampan.schema.regex.fallback.parser import parse
from sampan.schema.validation.pattern import compile_pattern
from sampan.testing.generated.choices import LETTERS, Choices, pick

_TRIES: Final = 20
_REPEATS_MAX: Final = 6
_TEXTS_MAX: Final = 1 << 60
"""Largest number of texts that one choice stands for."""
_USUAL: Final = LETTERS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@ "
_WRONG: Final = ("", "%", "A b", "-", "a", "0", "%%%" * 30, "\n")


class NoText(ValueError):
    """No text was found for a pattern."""


def matching(pattern: str, choices: Choices, least: int = 0, most: int = 40) -> str:
    """Return a text that matches a pattern, within limits of its length. Raises `NoText`."""
    try:
        matches = compile_pattern(pattern)
        shortest = _plan(pattern, 0)
    except (RegexError, ValueError) as error:
        raise NoText(str(error)) from error
    text = ""
    for extra in range(_TRIES):
        # A pattern such as `^[a-z]+$` takes its length from its repeats: try longer ones if the text is too short.
        text = _text(_plan(pattern, extra * max(least, 1) // 2), choices)
        if len(text) > most:
            text = _text(shortest, choices)
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


@dataclass(frozen=True, slots=True)
class _Run:
    """Characters in sequence. One number stands for all: each slot takes a part of it."""

    slots: tuple[tuple[str, ...], ...]
    count: int = 1
    """Number of texts."""

    def text(self, choices: Choices) -> str:
        """Return a text."""
        number, found = choices.spread(self.count), []
        for slot in self.slots:
            number, part = divmod(number, len(slot))
            found.append(slot[part])
        return "".join(found)


@dataclass(frozen=True, slots=True)
class _OneOf:
    """Alternatives."""

    plans: tuple["_Plan", ...]

    def text(self, choices: Choices) -> str:
        """Return a text."""
        return _text(pick(choices, self.plans), choices)


@dataclass(frozen=True, slots=True)
class _Many:
    """Repetition of more than single characters."""

    plan: "_Plan"
    least: int
    most: int

    def text(self, choices: Choices) -> str:
        """Return a text."""
        return "".join(_text(self.plan, choices) for _ in range(choices.integer(self.least, self.most)))


_Plan = tuple[_Run | _OneOf | _Many, ...]


def _text(plan: _Plan, choices: Choices) -> str:
    return "".join([each.text(choices) for each in plan])


@lru_cache(512)
def _plan(pattern: str, extra: int) -> _Plan:
    return tuple(_joined(_steps(parse(pattern), extra)))


def _joined(steps: Iterable[_Run | _OneOf | _Many]) -> Iterator[_Run | _OneOf | _Many]:
    """Join runs that follow each other, as long as their texts are few enough for one choice."""
    slots: list[tuple[str, ...]] = []
    count = 1
    for step in steps:
        for slot in step.slots if isinstance(step, _Run) else ():
            if count * len(slot) > _TEXTS_MAX:
                yield _Run(tuple(slots), count)
                slots, count = [], 1
            slots.append(slot)
            count *= len(slot)
        if not isinstance(step, _Run):
            if slots:
                yield _Run(tuple(slots), count)
            slots, count = [], 1
            yield step
    if slots:
        yield _Run(tuple(slots), count)


def _steps(node: Node, extra: int) -> Iterator[_Run | _OneOf | _Many]:
    """Yield the parts of a text. Positions (`^`, `$`) are judged at the end. `extra`: add so many repeats."""
    match node:
        case Characters(charset):
            yield _Run((_characters(charset),))
        case Sequence(parts):
            for part in parts:
                yield from _steps(part, extra)
        case Choice(parts):
            yield _OneOf(tuple(tuple(_joined(_steps(part, extra))) for part in parts))
        case Repeat(part, least, most):
            highest = least + _REPEATS_MAX + extra if most is None else min(most, least + _REPEATS_MAX + extra)
            lowest = min(least + extra, highest)
            if isinstance(part, Characters):
                slot = _characters(part.charset)
                # Each further character is absent in half of the texts.
                yield _Run((slot,) * lowest + (("",) * len(slot) + slot,) * (highest - lowest))
            else:
                yield _Many(tuple(_joined(_steps(part, 0))), lowest, highest)


@lru_cache(1024)
def _characters(charset: Charset) -> tuple[str, ...]:
    usual = tuple(each for each in _USUAL if contains(charset, ord(each)))
    low, high = charset[0]
    return usual or tuple(chr(each) for each in range(low, min(high, low + 50) + 1))
