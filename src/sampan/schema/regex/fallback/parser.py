"""Parser of Go's syntax of regular expressions. Source: Go regexp/syntax parse.go (1.24)."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from sampan.schema.regex.fallback import charset
from sampan.schema.regex.fallback.escapes import bracket_class, code_of, named_class
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

REPEAT_MAX: Final = 1000
NESTING_MAX: Final = 100
"""Maximum number of nested groups; the limit of Go is 1000. The compiler recurses for each."""
_COUNT: Final = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_NAME: Final = re.compile(r"\(\?P?<")
_WORD: Final = re.compile(r"\w+", re.ASCII)
_ASSERTIONS: Final = {"A": BEGIN_TEXT, "z": END_TEXT, "b": WORD_BOUNDARY, "B": NO_WORD_BOUNDARY}
_NOT_NEWLINE: Final = charset.negated(charset.NEWLINE)
_PERL: Final = "invalid or unsupported Perl syntax"


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags in effect: `(?imsU)`."""

    fold: bool = False
    multiline: bool = False
    dot_all: bool = False
    lazy: bool = False


_FLAGS: Final = {"i": "fold", "m": "multiline", "s": "dot_all", "U": "lazy"}


@dataclass(slots=True)
class _Group:
    """Open group: its complete alternatives, the parts of the current one, and the flags after it."""

    flags_after: Flags
    choices: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)

    def node(self) -> Node:
        """Return the tree of the group."""
        last = _sequence(self.parts)
        return Choice((*self.choices, last)) if self.choices else last


def parse(text: str) -> Node:
    """Return the tree of an expression. Raises `RegexError`."""
    return _Parser(text).parsed()


def _sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


class _Parser:
    """Parser of one expression. `at` is its position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags = Flags()
        self.groups = [_Group(self.flags)]
        self.names: set[str] = set()
        self.repeated_from = -1
        """Start of the repetition operator directly before `at`; negative if there is none."""

    def parsed(self) -> Node:
        while self.at < len(self.text):
            repeated_from, self.repeated_from = self.repeated_from, -1
            self._step(self.text[self.at], repeated_from)
        if len(self.groups) > 1:
            raise RegexError("missing closing )", self.text)
        return self.groups[0].node()

    def _step(self, character: str, repeated_from: int) -> None:
        match character:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                group = self.groups[-1]
                group.choices.append(_sequence(group.parts))
                group.parts = []
                self.at += 1
            case "*" | "+" | "?":
                least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
                self._repeat(least, most, self.at + 1, repeated_from)
            case "{" if found := _COUNT.match(self.text, self.at):
                least = int(found[1])
                most = least if found[2] is None else int(found[3]) if found[3] else None
                if max(least, most or 0) > REPEAT_MAX or (most is not None and most < least):
                    raise RegexError("invalid repeat count", found[0])
                self._repeat(least, most, found.end(), repeated_from)
            case _:
                self._single(character)

    def _single(self, character: str) -> None:
        """Parse an element that matches one character or one position."""
        node: Node
        if character == "\\":
            self._escape()
            return
        if character == "[":
            found, self.at = bracket_class(self.text, self.at, fold=self.flags.fold)
            self._add(Characters(found))
            return
        if character == ".":
            node = Characters(charset.ANY if self.flags.dot_all else _NOT_NEWLINE)
        elif character == "^":
            node = Assertion(BEGIN_LINE if self.flags.multiline else BEGIN_TEXT)
        elif character == "$":
            node = Assertion(END_LINE if self.flags.multiline else END_TEXT)
        else:
            node = self._literal(ord(character))
        self.at += 1
        self._add(node)

    def _escape(self) -> None:
        name = self.text[self.at + 1 : self.at + 2]
        if name in _ASSERTIONS:
            self.at += 2
            self._add(Assertion(_ASSERTIONS[name]))
        elif name == "Q":
            quoted, _, _ = self.text[self.at + 2 :].partition("\\E")
            self.at = min(self.at + 4 + len(quoted), len(self.text))
            for character in quoted:
                self._add(self._literal(ord(character)))
        elif (found := named_class(self.text, self.at, fold=self.flags.fold)) is not None:
            self._add(Characters(found[0]))
            self.at = found[1]
        else:
            code, self.at = code_of(self.text, self.at)
            self._add(self._literal(code))

    def _literal(self, code: int) -> Node:
        single = ((code, code),)
        return Characters(charset.folded(single) if self.flags.fold else single)

    def _add(self, node: Node) -> None:
        self.groups[-1].parts.append(node)

    def _repeat(self, least: int, most: int | None, after: int, repeated_from: int) -> None:
        start = self.at
        lazy = self.text[after : after + 1] == "?"
        after += lazy
        if repeated_from >= 0:
            raise RegexError("invalid nested repetition operator", self.text[repeated_from:after])
        parts = self.groups[-1].parts
        if not parts:
            raise RegexError("missing argument to repetition operator", self.text[start:after])
        node = Repeat(parts[-1], least, most, lazy == self.flags.lazy)
        if max(least, most or 0) >= 2 and _repetitions(node) > REPEAT_MAX:
            raise RegexError("invalid repeat count", self.text[start:after])
        parts[-1] = node
        self.at, self.repeated_from = after, start

    def _open(self) -> None:
        if len(self.groups) > NESTING_MAX:
            raise RegexError("expression nests too deeply", self.text)
        flags_after = self.flags
        if not self.text.startswith("(?", self.at):
            self.at += 1
        elif found := _NAME.match(self.text, self.at):
            self._name(found.end())
        elif not self._flags():
            return
        self.groups.append(_Group(flags_after))

    def _name(self, start: int) -> None:
        end = self.text.find(">", start)
        if end < 0:
            raise RegexError("invalid named capture", self.text[self.at :])
        name = self.text[start:end]
        if not _WORD.fullmatch(name):
            raise RegexError("invalid named capture", self.text[self.at : end + 1])
        if name in self.names:
            raise RegexError("duplicate capture group name", name)
        self.names.add(name)
        self.at = end + 1

    def _flags(self) -> bool:
        """Parse `(?i-s)` or `(?i:`. Return True if it opens a group."""
        at, flags, sign, given = self.at + 2, self.flags, True, False
        while at < len(self.text):
            character, at = self.text[at], at + 1
            if character in _FLAGS:
                flags, given = replace(flags, **{_FLAGS[character]: sign}), True
            elif character == "-" and sign:
                sign, given = False, False
            elif character in ":)" and (sign or given):
                self.flags, self.at = flags, at
                return character == ":"
            else:
                raise RegexError(_PERL, self.text[self.at : at])
        raise RegexError(_PERL, self.text[self.at :])

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise RegexError("unexpected )", self.text)
        group = self.groups.pop()
        self.flags = group.flags_after
        self.at += 1
        self._add(group.node())


def _repetitions(node: Node) -> int:
    """Return the maximum number of repetitions of the innermost part, the product of nested repetition counts."""
    match node:
        case Repeat(part, least, most):
            return max(least, most or 0, 1) * _repetitions(part)
        case Sequence(parts) | Choice(parts):
            return max(map(_repetitions, parts), default=1)
        case _:
            return 1
