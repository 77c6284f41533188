"""Syntax tree of a regular expression."""

from dataclasses import dataclass
from typing import Final

from sampan.schema.regex.fallback.charset import Charset

BEGIN_TEXT: Final = "begin text"
END_TEXT: Final = "end text"
BEGIN_LINE: Final = "begin line"
END_LINE: Final = "end line"
WORD_BOUNDARY: Final = "word boundary"
NO_WORD_BOUNDARY: Final = "no word boundary"


class RegexError(ValueError):
    """The expression is invalid. The text is that of Go's regexp package."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{where}`")


@dataclass(frozen=True, slots=True)
class Characters:
    """Node that matches one character of a set."""

    charset: Charset


@dataclass(frozen=True, slots=True)
class Assertion:
    """Condition on a position in the text. It consumes no character."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that follow each other. Without parts it matches the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives, the preferred one first."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Repetition. `most` is None if there is no limit."""

    part: "Node"
    least: int
    most: int | None
    greedy: bool


Node = Characters | Assertion | Sequence | Choice | Repeat
