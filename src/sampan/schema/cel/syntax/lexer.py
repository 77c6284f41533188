"""Split an expression into tokens. Source: the grammar of CEL (cel-go parser/gen/CEL.g4)."""

import re
from dataclasses import dataclass
from typing import Any

from sampan.schema.cel.errors import ISSUES_MAX, Issue
from sampan.schema.cel.values import UINT_MAX, UInt

_ESCAPED = r"\\(?:[abfnrtv\"'`?\\]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_STRING = "|".join(
    (
        r'[rR]"""(?:.|\n)*?"""',
        r"[rR]'''(?:.|\n)*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPED}|[^\\])*?"""',
        rf"'''(?:{_ESCAPED}|[^\\])*?'''",
        rf'"(?:{_ESCAPED}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPED}|[^\\'\n\r])*'",
    )
)
_TOKEN = re.compile(
    rf"""(?P<space>[\t \r\n\f]+|//[^\n]*)
    |(?P<bytes>[bB](?:{_STRING}))
    |(?P<string>{_STRING})
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<escaped>`[A-Za-z0-9_.\-/\ ]+`)
    |(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])""".replace("\n    |", "|")
)
_DEFAULTS: dict[str, Any] = {"string": "", "bytes": b"", "int": 0, "uint": UInt(0), "float": 0.0}
"""Values of invalid literals."""
_DIGITS_MAX = 24
"""Maximum number of digits of an integer that are parsed. An integer with more digits exceeds 64 bits in any base."""
_KEYWORDS = {"in": "op", "true": "bool", "false": "bool", "null": "null"}
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.|\n))"
)
_UNFINISHED = re.compile(
    rf"""["'](?:{_ESCAPED}|[^\\\n\r])*(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{{0,3}}|U[0-9a-fA-F]{{0,7}}|[0-3][0-7]?)?)?"""
    r"|[&|=]"
)
"""Valid start of an incomplete token. The quote of a string is not followed by the same quote."""
_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip


class _InvalidLiteral(Exception):
    """The value of a literal is out of range, or it has an invalid escape sequence."""


@dataclass(slots=True)
class Token:
    """Token. `kind` is op, name, escaped (a name in backquotes), int, uint, float, string, bytes, bool, null or end;
    `value` is the value of a literal.
    """

    kind: str
    text: str
    offset: int
    value: Any = None


def _unescape_text(body: str) -> str:
    def replace(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3] or match[4]
        if digits:
            code = int(digits, 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise _InvalidLiteral("unable to unescape string")
            return chr(code)
        if match[5]:
            return chr(int(match[5], 8))
        if match[6] not in _SIMPLE:
            raise _InvalidLiteral("unable to unescape string")
        return _SIMPLE[match[6]]

    return _ESCAPE.sub(replace, body)


def _unescape_bytes(body: str) -> bytes:
    out = bytearray()
    position = 0
    for match in _ESCAPE.finditer(body):
        out += body[position : match.start()].encode()
        position = match.end()
        if match[3] or match[4]:
            raise _InvalidLiteral("unable to unescape string")
        if match[1] or match[2]:
            out.append(int(match[1] or match[2], 16))
        elif match[5]:
            out.append(int(match[5], 8))
        elif match[6] in _SIMPLE:
            out += _SIMPLE[match[6]].encode()
        else:
            raise _InvalidLiteral("unable to unescape string")
    return bytes(out + body[position:].encode())


def _string_value(text: str, *, as_bytes: bool) -> str | bytes:
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    body = text[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n")
    if raw:
        return body.encode() if as_bytes else body
    return _unescape_bytes(body) if as_bytes else _unescape_text(body)


def _integer(text: str) -> int:
    """Parse an integer. Digits beyond `_DIGITS_MAX` are ignored: the result exceeds 64 bits in any case."""
    digits, base = (text[2:], 16) if text.startswith("0x") else (text, 10)
    return int(digits.lstrip("0")[:_DIGITS_MAX] or "0", base)


def _value(kind: str, text: str) -> Any:
    if kind == "string":
        return _string_value(text, as_bytes=False)
    if kind == "bytes":
        return _string_value(text[1:], as_bytes=True)
    if kind == "int":
        return _integer(text)
    if kind == "uint":
        number = _integer(text[:-1])
        if number > UINT_MAX:
            raise _InvalidLiteral("invalid uint literal")
        return UInt(number)
    if kind == "float":
        number_f = float(text)
        if number_f == float("inf"):
            raise _InvalidLiteral("invalid double literal")
        return number_f
    return {"true": True, "false": False}.get(text)


def tokens(source: str) -> tuple[list[Token], list[Issue]]:
    """Return all tokens and the issues. The last token has the kind `end`. Text that is not a token is skipped."""
    found: list[Token] = []
    issues: list[Issue] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            text = _unrecognized(source, position)
            if len(issues) < ISSUES_MAX:
                issues.append(Issue(position, f"Syntax error: token recognition error at: '{escaped(text)}'"))
            position += len(text)
            continue
        kind, text = match.lastgroup or "", match[0]
        if kind != "space":
            found.append(_token(kind, text, position, issues))
        position = match.end()
    found.append(Token("end", "<EOF>", len(source)))
    return found, issues


def _token(kind: str, text: str, position: int, issues: list[Issue]) -> Token:
    if kind == "name":
        kind = _KEYWORDS.get(text, kind)
    try:
        return Token(kind, text, position, _value(kind, text))
    except _InvalidLiteral as error:
        issues.append(Issue(position, str(error)))
        return Token(kind, text, position, _DEFAULTS[kind])


def _unrecognized(source: str, position: int) -> str:
    """Return the text that ANTLR skips: a valid start of a token, and the character that does not fit."""
    start = _UNFINISHED.match(source, position)
    return source[position : (position if start is None else start.end()) + 1]


def escaped(text: str) -> str:
    """Return `text` as ANTLR's messages show it."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
