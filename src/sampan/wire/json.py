"""Encode and decode JSON bodies.

A body may have 10,000 levels, as in Kubernetes. Parts that recursive code cannot walk become `DeepJson` leaves.
Integers of up to 64 bits (signed or unsigned) stay integers; larger ones become floats, as in Go.
Source: sigs.k8s.io/json; apimachinery pkg/runtime/serializer/json (1.36).
"""

import json as stdlib_json
import math
import re
from typing import Any, Final, NoReturn

import orjson

from sampan.core.deep_json import LEVELS_MAX, dumped, dumps
from sampan.core.go_text import END_OF_JSON, invalid_character, number_too_large
from sampan.core.json.deep_decode import TooDeep, Unbalanced, decode_deep
from sampan.wire.json_syntax import duplicate_fields, syntax_error

_EXPLAINED_SIZE_MAX: Final = 1 << 18
"""Size limit of an invalid body that is parsed a second time to produce Go's error message."""


DEEP_END: Final = b" "
"""End of a text that has parts that are nested deeply: a decoder need not search for them in any other text."""


class DecodeError(ValueError):
    """A body cannot be decoded; the message gives the reason, in Go's words if possible."""


UNREADABLE: Final = (ValueError, RecursionError)
"""Errors that msgspec's decoders raise for invalid JSON, or for JSON of another type than expected.

Its own errors are `ValueError`s, and so is `UnicodeDecodeError`, which it raises for text that is not UTF-8. Nesting
that is too deep raises `RecursionError`.
"""


class EncodeError(ValueError):
    """An object cannot be encoded: it is too deep, or contains a value that JSON does not have."""


def decode(body: bytes) -> Any:
    """Decode one JSON value. The last of duplicate keys wins. Raises `DecodeError`."""
    value = _load(body)
    # Only a body with this many brackets can be too deep.
    if body.count(b"{") + body.count(b"[") > LEVELS_MAX and _compact(value) is None:
        return _deep(body)
    return value


def _load(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _deep(body) if "depth" in str(error) else _decode_leniently(body, error)


def _deep(body: bytes) -> Any:
    """Decode a body that has too many levels for orjson."""
    try:
        return decode_deep(body, _load)
    except TooDeep as error:
        raise DecodeError(invalid_character(error.bracket[0], "exceeded max depth")) from None
    except (Unbalanced, DecodeError) as error:
        explained = None if len(body) > _EXPLAINED_SIZE_MAX else syntax_error(body)
        raise DecodeError(explained or str(error) or END_OF_JSON) from None


def without_deep_parts(body: bytes) -> bytes:
    """Return a body with null for the parts that are nested deeply, for decoders of other fields.

    Raises `DecodeError`.
    """
    return orjson.dumps(decode(body), default=_no_value)


def _no_value(value: object) -> None:
    return None


def decode_strict(body: bytes) -> tuple[Any, list[str]]:
    """Decode one JSON value and list its duplicate keys (as `Duplicates`, if there are any). Raises `DecodeError`.

    Nearly all bodies have no duplicates; for them this costs one encoding and a few searches more than `decode`.
    """
    value = _load(body)
    compact = _compact(value)
    if compact is None:
        value = _deep(body)
    elif _surely_without_duplicates(body, compact):
        return value, []
    return value, duplicate_fields(body.decode("utf-8", "replace"))


def _compact(value: Any) -> bytes | None:
    """Encode a decoded value without spaces. Return None if it is nested deeply: this is also the cheapest check."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None


_SPACED_COLONS = (b'" :', b'"\t:', b'"\n:', b'"\r:')


def _surely_without_duplicates(body: bytes, compact: bytes) -> bool:
    """Report whether the body has exactly as many keys as its value in compact form.

    Counts `":`, which ends each key, minus those with an escaped quote, which are inside a string. Returns False if the
    count may be wrong: for bodies with space before a colon, or with an escaped backslash before a quote.
    """
    if compact == body:
        return True
    if b'\\\\"' in body or any(colon in body for colon in _SPACED_COLONS):
        return False
    keys = body.count(b'":') - body.count(b'\\":')
    return keys == compact.count(b'":') - compact.count(b'\\":')


def _reject_constant(name: str) -> NoReturn:
    raise DecodeError(invalid_character(ord(name[0]), "looking for beginning of value"))


_lone_surrogate = re.compile("[\ud800-\udfff]")


def _decode_leniently(body: bytes, error: orjson.JSONDecodeError) -> Any:
    """Decode a body that Go accepts and orjson does not: invalid UTF-8 and lone surrogates become U+FFFD."""
    message = str(error).partition(": line ")[0]
    if "UTF-8" not in message and "surrogate" not in message and "escape" not in message:
        raise DecodeError(_explain(body, message)) from None
    text = body.decode("utf-8", "replace")
    try:
        value = stdlib_json.loads(text, parse_constant=_reject_constant)
        compact = stdlib_json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return _deep(text.encode())
    except ValueError:
        raise DecodeError(_explain(body, message)) from None
    try:
        value = orjson.loads(_lone_surrogate.sub("\ufffd", compact))
    except orjson.JSONDecodeError as second:
        raise DecodeError(str(second).partition(": line ")[0]) from None
    return value if _compact(value) is not None else _deep(text.encode())


def _explain(body: bytes, message: str) -> str:
    if not body.strip(b" \t\r\n"):
        return END_OF_JSON
    if "infinity" in message:
        return _number_beyond_floats(body) or message
    if len(body) > _EXPLAINED_SIZE_MAX:
        return message
    return syntax_error(body) or message


_strings_and_numbers = re.compile(rb'"(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*', re.DOTALL).finditer


def _number_beyond_floats(body: bytes) -> str:
    """Return Go's error for the first number that no float holds."""
    for found in _strings_and_numbers(body):
        text = found.group().decode("latin-1")
        if text[0] != '"' and math.isinf(float(text)):
            return number_too_large(text)
    return ""


def encode(value: Any) -> bytes:
    """Encode a value as compact JSON. Raises `EncodeError`."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        return _encode_leniently(value, error)


_ESCAPED: Final = ((b"&", rb"\u0026"), (b"<", rb"\u003c"), (b">", rb"\u003e"))
_ESCAPED_LINES: Final = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"))


def escaped(encoded: bytes) -> bytes:
    """Escape the characters that Go escapes, because clients compare the bytes of ControllerRevisions."""
    for plain, escape in _ESCAPED if encoded.isascii() else (*_ESCAPED, *_ESCAPED_LINES):
        if plain in encoded:
            encoded = encoded.replace(plain, escape)
    return encoded


def encode_sorted(value: Any) -> bytes:
    """Encode a value as compact JSON with sorted keys, for comparisons. Raises `EncodeError`."""
    try:
        return dumps(value, sort=True)
    except orjson.JSONEncodeError as error:
        raise EncodeError(str(error)) from None


def _encode_leniently(value: Any, error: orjson.JSONEncodeError) -> bytes:
    """Encode values that orjson rejects: parts nested deeply, integers beyond 64 bits and lone surrogates."""
    try:
        return dumps(value) + DEEP_END
    except orjson.JSONEncodeError:
        pass
    try:
        text = stdlib_json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise EncodeError(str(error)) from None
    return _lone_surrogate.sub("\ufffd", text).encode()


def pretty(value: Any) -> bytes:
    """Encode a value for people (`?pretty=true`): two spaces a level. Raises `EncodeError`."""
    try:
        return dumped(value, orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError as error:
        raise EncodeError(str(error)) from None
