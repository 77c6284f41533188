"""Programs of instructions, built by Thompson's construction.

Source: Go regexp/syntax compile.go, prog.go (1.24).
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from sampan.schema.regex.fallback.charset import NEWLINE, WORD, Charset, contains
from sampan.schema.regex.fallback.nodes import (
    BEGIN_LINE,
    BEGIN_TEXT,
    END_LINE,
    END_TEXT,
    NO_WORD_BOUNDARY,
    WORD_BOUNDARY,
    Assertion,
    Characters,
    Choice,
    Node,
    RegexError,
    Repeat,
    Sequence,
)

INSTRUCTIONS_MAX: Final = 20_000
_MIRRORED: Final = {BEGIN_TEXT: END_TEXT, END_TEXT: BEGIN_TEXT, BEGIN_LINE: END_LINE, END_LINE: BEGIN_LINE}


@dataclass(slots=True)
class Consume:
    """Consumes a character of one of the classes `classes`, then continues at `after`."""

    charset: Charset
    after: int
    classes: frozenset[int] = frozenset()


@dataclass(slots=True)
class EmptyWidth:
    """Continues at `after` if an assertion holds."""

    kind: str
    after: int


@dataclass(slots=True)
class Split:
    """Continues at `first` and, with lower priority, at `second`."""

    first: int
    second: int


@dataclass(slots=True)
class Match:
    """Reached if the text matches."""


Instruction = Consume | EmptyWidth | Split | Match


class Program:
    """Instructions, and the classes of characters that they distinguish.

    `backwards`: the program reads the text from its end. Raises `RegexError` if it is too large.
    """

    def __init__(self, text: str, tree: Node, *, backwards: bool = False) -> None:
        self._text = text
        self._backwards = backwards
        self.instructions: list[Instruction] = [Match()]
        self.start = self._compile(tree, 0)
        kinds = {each.kind for each in self.instructions if isinstance(each, EmptyWidth)}
        self.has_words = not kinds.isdisjoint({WORD_BOUNDARY, NO_WORD_BOUNDARY})
        self.has_lines = not kinds.isdisjoint({BEGIN_LINE, END_LINE})
        self._set_classes()

    def class_of(self, character: str) -> int:
        """Return the class of a character. No instruction distinguishes characters of one class."""
        return bisect_right(self._bounds, ord(character))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self._bounds) + 1

    def sample(self, number: int) -> int:
        """Return the first code point of a class."""
        return self._bounds[number - 1] if number else 0

    def _set_classes(self) -> None:
        consuming = [each for each in self.instructions if isinstance(each, Consume)]
        charsets = {each.charset for each in consuming}
        extra = ([WORD] if self.has_words else []) + ([NEWLINE] if self.has_lines else [])
        bounds = {bound for found in (*charsets, *extra) for low, high in found for bound in (low, high + 1)}
        self._bounds = sorted(bounds - {0})
        samples = [self.sample(number) for number in range(len(self._bounds) + 1)]
        classes = {
            found: frozenset(number for number, code in enumerate(samples) if contains(found, code))
            for found in charsets
        }
        for each in consuming:
            each.classes = classes[each.charset]

    def _emit(self, instruction: Instruction) -> int:
        if len(self.instructions) >= INSTRUCTIONS_MAX:
            raise RegexError("expression too large", self._text)
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _compile(self, node: Node, after: int) -> int:
        """Emit the instructions of a node that continue at `after`. Return the first one."""
        match node:
            case Characters(charset):
                return self._emit(Consume(charset, after))
            case Assertion(kind):
                return self._emit(EmptyWidth(_MIRRORED.get(kind, kind) if self._backwards else kind, after))
            case Sequence(parts):
                for part in parts if self._backwards else reversed(parts):
                    after = self._compile(part, after)
                return after
            case Choice(parts):
                *others, last = [self._compile(part, after) for part in parts]
                for first in reversed(others):
                    last = self._emit(Split(first, last))
                return last
            case Repeat():
                return self._repeat(node, after)

    def _repeat(self, node: Repeat, after: int) -> int:
        """Emit the instructions of a repetition: `least` copies of its part, then a loop or optional copies. Return the
        first one.
        """
        if node.most is None:
            after = self._loop(node, after)
        else:
            done = after
            for _ in range(node.most - node.least):
                after = self._split(self._compile(node.part, after), done, greedy=node.greedy)
        for _ in range(node.least):
            after = self._compile(node.part, after)
        return after

    def _loop(self, node: Repeat, after: int) -> int:
        split = self._emit(Split(0, 0))
        body = self._compile(node.part, split)
        self.instructions[split] = Split(body, after) if node.greedy else Split(after, body)
        return split

    def _split(self, into: int, past: int, *, greedy: bool) -> int:
        return self._emit(Split(into, past) if greedy else Split(past, into))
