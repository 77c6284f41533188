"""Messages for tokens that the grammar does not expect, as cel-go's generated parser writes them.

ANTLR tries two repairs before it gives up. If the token after the unexpected token fits, the unexpected token is
`extraneous`. If a single token is required and the unexpected token fits after it, the required token is `missing`.
Otherwise, the input is `mismatched`. Only the first error of a text is reported.
Source: antlr4 runtime DefaultErrorStrategy; cel-go parser/gen/CEL.g4 (0.26).
"""

from collections.abc import Collection
from typing import Final

from sampan.schema.cel.syntax.lexer import Token, escaped

END: Final = "<EOF>"
EXPRESSION: Final = frozenset(
    (
        "[", "{", "(", ".", "-", "!", "true", "false", "null",
        "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
    )
)  # fmt: skip
"""Tokens that an expression may start with."""
OPERATORS: Final = frozenset(
    ("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", ".", "-", "?", "+", "*", "/", "%"),
)
"""Tokens that continue a complete expression."""
FIELD_NAME: Final = frozenset(("IDENTIFIER", "ESC_IDENTIFIER"))

_ORDER: Final = (
    "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
    "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
    "ESC_IDENTIFIER", END,
)  # fmt: skip
"""Order of the tokens in the grammar, and in messages."""
_KINDS: Final = {
    "float": "NUM_FLOAT",
    "int": "NUM_INT",
    "uint": "NUM_UINT",
    "string": "STRING",
    "bytes": "BYTES",
    "name": "IDENTIFIER",
    "escaped": "ESC_IDENTIFIER",
}


def kind_of(token: Token) -> str:
    """Return the grammar's name of a token: its text, or the name of its class."""
    return _KINDS.get(token.kind, token.text)


def unexpected(
    token: Token, following: Token, expected: Collection[str], *, after_missing: Collection[str] = ()
) -> str:
    """Return the message for `token`, which `following` follows.

    `after_missing`: tokens that may follow the expected token, if only one token is expected.
    """
    shown = _shown(token)
    if kind_of(following) in expected:
        return extraneous(token, expected)
    if len(expected) == 1 and kind_of(token) in after_missing:
        return f"Syntax error: missing {_listed(expected)} at {shown}"
    return f"Syntax error: mismatched input {shown} expecting {_listed(expected)}"


def extraneous(token: Token, expected: Collection[str]) -> str:
    """Return the message for a token in a repetition, where it is always skipped."""
    return f"Syntax error: extraneous input {_shown(token)} expecting {_listed(expected)}"


def no_alternative(text: str) -> str:
    """Return the message for tokens with which no alternative of the grammar starts."""
    return f"Syntax error: no viable alternative at input '{escaped(text)}'"


def _listed(expected: Collection[str]) -> str:
    names = [_name(each) for each in sorted(expected, key=_ORDER.index)]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _name(kind: str) -> str:
    if kind == "?":
        return r"'\u003F'"
    return kind if kind == END or kind.isupper() else f"'{kind}'"


def _shown(token: Token) -> str:
    return f"'{escaped(token.text)}'"
