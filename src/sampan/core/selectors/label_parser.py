"""Parse label selectors: `a=b,c in (d,e),!f`.

Source: apimachinery pkg/labels/selector.go (1.36).
"""

import functools
import re
from collections.abc import Sized
from typing import Final

from sampan.core import field
from sampan.core.field import Path
from sampan.core.label_selectors import EVERYTHING, NO_PATH, Operator, Requirement, Selector, new_requirement
from sampan.core.validation.names import qualified_name_errors

CACHED_LENGTH_MAX: Final = 512
"""Length limit of selectors that are cached in parsed form."""
SELECTOR_CHARS_MAX: Final = 1 << 16
REQUIREMENTS_MAX: Final = 256
"""Limits of a selector. kube-apiserver limits only the head of a request, to 1 MiB, which allows 100,000 requirements.
Parsing so many took seconds, and each object of a list was compared with all of them.
"""

_BINARY = (
    Operator.IN,
    Operator.NOT_IN,
    Operator.EQUALS,
    Operator.DOUBLE_EQUALS,
    Operator.NOT_EQUALS,
    Operator.GREATER_THAN,
    Operator.LESS_THAN,
)
_END = ""
_SYMBOL_OPERATORS = {
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
}
_SYMBOLS = frozenset(("=", "==", "!=", "!", "(", ")", ",", "<", ">"))
_next_token = re.compile(r"[ \t\r\n]*((?:==|!=|[=!(),<>])\0?|[^=!(),<> \t\r\n\0]+\0?|)").match


def _tokens(text: str) -> list[str]:
    """Return the words and symbols of a selector; the last one is empty. A NUL ends the text, as in Go."""
    tokens: list[str] = []
    position = 0
    while True:
        match = _next_token(text, position)
        assert match is not None
        token = match[1]
        position = match.end()
        tokens.append(token.rstrip("\0"))
        if not token:
            return tokens


def check_length(text: str) -> None:
    """Raise `ValueError` for a selector of more than `SELECTOR_CHARS_MAX` characters."""
    if len(text) > SELECTOR_CHARS_MAX:
        raise ValueError(f"the selector has {len(text)} characters; at most {SELECTOR_CHARS_MAX} are allowed")


def check_count(requirements: Sized) -> None:
    """Raise `ValueError` for more than `REQUIREMENTS_MAX` requirements."""
    if len(requirements) > REQUIREMENTS_MAX:
        raise ValueError(f"the selector has too many requirements; at most {REQUIREMENTS_MAX} are allowed")


class _Parser:
    """Parser of one label selector."""

    def __init__(self, text: str, path: Path) -> None:
        self._tokens = _tokens(text)
        self._position = 0
        self._path = path

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while True:
            token = self._peek()
            if token == _END:
                return requirements
            if token in _SYMBOLS and token != "!":
                raise ValueError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                requirements.append(self._requirement())
            except ValueError as error:
                raise ValueError(f"unable to parse requirement: {error}") from None
            check_count(requirements)
            token = self._take()
            if token == _END:
                return requirements
            if token != ",":
                raise ValueError(f"found '{token}', expected: ',' or 'end of string'")
            token = self._peek()
            if token == _END or (token in _SYMBOLS and token != "!"):
                raise ValueError(f"found '{token}', expected: identifier after ','")

    def _peek(self) -> str:
        return self._tokens[self._position]

    def _take(self) -> str:
        self._position += 1
        return self._tokens[self._position - 1]

    def _requirement(self) -> Requirement:
        token = self._take()
        negated = token == "!"
        if negated:
            token = self._take()
        if token == _END or token in _SYMBOLS:
            raise ValueError(f"found '{token}', expected: identifier")
        if texts := qualified_name_errors(token):
            raise ValueError(str(field.invalid(self._path, token, "; ".join(texts))))
        if negated:
            return new_requirement(token, Operator.DOES_NOT_EXIST, (), self._path)
        if self._peek() in (_END, ","):
            return new_requirement(token, Operator.EXISTS, (), self._path)
        operator = self._operator()
        values = self._values() if operator in (Operator.IN, Operator.NOT_IN) else self._exact_value()
        return new_requirement(token, operator, sorted(values), self._path)

    def _operator(self) -> Operator:
        token = self._take()
        operator = _SYMBOL_OPERATORS.get(token)
        if operator is None:
            raise ValueError(f"found '{token}', expected: {', '.join(_BINARY)}")
        return operator

    def _exact_value(self) -> set[str]:
        if self._peek() in (_END, ","):
            return {""}
        token = self._take()
        if token in _SYMBOLS:
            raise ValueError(f"found '{token}', expected: identifier")
        return {token}

    def _values(self) -> set[str]:
        token = self._take()
        if token != "(":
            raise ValueError(f"found '{token}' expected: '('")
        token = self._peek()
        if token == ")":
            self._take()
            return {""}
        if token == _END or (token in _SYMBOLS and token != ","):
            raise ValueError(f"found '{token}', expected: ',', ')' or identifier")
        values = self._identifiers()
        self._take()
        return values

    def _identifiers(self) -> set[str]:
        """Return the values up to the closing parenthesis, which is not consumed.

        Nothing between commas is an empty value.
        """
        values: set[str] = set()
        while True:
            token = self._take()
            following = self._peek() if token != _END else _END
            if token == ",":
                if not values or following in (")", ","):
                    values.add("")
                if following == ")":
                    return values
            elif token == _END or token in _SYMBOLS:
                raise ValueError(f"found '{token}', expected: ',', or identifier")
            else:
                values.add(token)
                if following == ")":
                    return values
                if following != ",":
                    raise ValueError(f"found '{following}', expected: ',' or ')'")


def parse_labels(text: str, path: Path = NO_PATH) -> Selector:
    """Parse a label selector (`a=b,c in (d,e),!f`). Raises `ValueError` with Kubernetes' message."""
    if not text:
        return EVERYTHING
    if path is NO_PATH and len(text) <= CACHED_LENGTH_MAX:
        return _parse_labels_cached(text)
    check_length(text)
    return Selector(_Parser(text, path).parse())


@functools.lru_cache(maxsize=256)
def _parse_labels_cached(text: str) -> Selector:
    return Selector(_Parser(text, NO_PATH).parse())
