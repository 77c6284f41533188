"""JSON bodies in and out.

Nesting is held to `DEPTH_MAX` levels, which the encoder can write back and recursive code can walk; Kubernetes' own
bound (10,000) is out of Python's reach. Whole numbers up to 64 bits (signed or unsigned) stay whole; larger ones
become floats, as in Go.
Source: sigs.k8s.io/json; apimachinery pkg/runtime/serializer/json (1.36).
"""

import json as stdlib_json
import re
from typing import Any, Final, NoReturn

import orjson

from sampan.wire.json_syntax import duplicate_fields, syntax_error

DEPTH_MAX: Final = 254
"""Levels of lists and maps that a body may have."""

_EXPLAINED_SIZE_MAX: Final = 1 << 18
"""Bytes of the longest broken body that is read again to say what is wrong in Go's words."""


class DecodeError(ValueError):
    """A body cannot be read; the text says why, in Go's words where they are known."""


UNREADABLE: Final = (ValueError, RecursionError)
"""What msgspec's decoders raise for bytes of others that are no JSON, or not the JSON that was expected.

Its own errors are `ValueError`s, and so is `UnicodeDecodeError`, which it raises for text that is not UTF-8; nesting
that is too deep is a `RecursionError`.
"""


class EncodeError(ValueError):
    """An object cannot be written: too deep, or not made of JSON values."""


def decode(body: bytes) -> Any:
    """Read one JSON value. Of duplicate keys the last wins. Raises `DecodeError`."""
    value = _load(body)
    if body.count(b"{") + body.count(b"[") > DEPTH_MAX:
        _compact(value)
    return value


def _load(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _decode_leniently(body, error)


def decode_strict(body: bytes) -> tuple[Any, list[str]]:
    """Read one JSON value and tell its duplicate keys (`Duplicates`, if there are any). Raises `DecodeError`.

    Bodies without duplicates, which are nearly all, cost one encoding and a few searches more than `decode`.
    """
    value = _load(body)
    if _surely_without_duplicates(body, value):
        return value, []
    return value, duplicate_fields(body.decode("utf-8", "replace"))


def _compact(value: Any) -> bytes:
    """The shortest form. Writing it is also the cheapest way to find that a value is too deep: `DecodeError`."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise DecodeError("exceeded max depth") from None


_SPACED_COLONS = (b'" :', b'"\t:', b'"\n:', b'"\r:')


def _surely_without_duplicates(body: bytes, value: Any) -> bool:
    """Whether the body has exactly as many keys as the value.

    A key ends in `":`. Inside a string the quote has a backslash before it, so those are taken off again. Bodies with
    space before a colon, or with a backslash that is itself escaped before a quote, are left to the exact way.
    """
    compact = _compact(value)
    if compact == body:
        return True
    if b'\\\\"' in body or any(colon in body for colon in _SPACED_COLONS):
        return False
    keys = body.count(b'":') - body.count(b'\\":')
    return keys == compact.count(b'":') - compact.count(b'\\":')


def _refuse_constant(name: str) -> NoReturn:
    raise DecodeError(f"invalid character {name[0]!r} looking for beginning of value")


_lone_surrogate = re.compile("[\ud800-\udfff]")


def _decode_leniently(body: bytes, error: orjson.JSONDecodeError) -> Any:
    """The way of bodies that Go accepts and the fast decoder does not: bad UTF-8 and lone surrogates become U+FFFD."""
    message = str(error).partition(": line ")[0]
    if "UTF-8" not in message and "surrogate" not in message and "escape" not in message:
        raise DecodeError(_explain(body, message)) from None
    text = body.decode("utf-8", "replace")
    try:
        value = stdlib_json.loads(text, parse_constant=_refuse_constant)
        compact = stdlib_json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    except ValueError:
        raise DecodeError(_explain(body, message)) from None
    try:
        value = orjson.loads(_lone_surrogate.sub("\ufffd", compact))
    except orjson.JSONDecodeError as second:
        raise DecodeError(str(second).partition(": line ")[0]) from None
    _compact(value)
    return value


def _explain(body: bytes, message: str) -> str:
    if not body.strip(b" \t\r\n"):
        return "unexpected end of JSON input"
    if "depth" in message:
        return "exceeded max depth"
    if len(body) > _EXPLAINED_SIZE_MAX:
        return message
    return syntax_error(body) or message


def encode(value: Any) -> bytes:
    """Write compact JSON. Raises `EncodeError`."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        return _encode_leniently(value, error)


_ESCAPED: Final = ((b"&", rb"\u0026"), (b"<", rb"\u003c"), (b">", rb"\u003e"))
_ESCAPED_LINES: Final = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"))


def escaped(encoded: bytes) -> bytes:
    """JSON with those characters escaped that Go escapes: of ControllerRevisions clients compare the bytes."""
    for plain, escape in _ESCAPED if encoded.isascii() else (*_ESCAPED, *_ESCAPED_LINES):
        if plain in encoded:
            encoded = encoded.replace(plain, escape)
    return encoded


def encode_sorted(value: Any) -> bytes:
    """Write compact JSON with sorted keys: a canonical form to compare by. Raises `EncodeError`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise EncodeError(str(error)) from None


def _encode_leniently(value: Any, error: orjson.JSONEncodeError) -> bytes:
    """The way of whole numbers beyond 64 bits and of lone surrogates."""
    try:
        text = stdlib_json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise EncodeError(str(error)) from None
    return _lone_surrogate.sub("\ufffd", text).encode()


def pretty(value: Any) -> bytes:
    """Write JSON for people (`?pretty=true`): two spaces a level. Raises `EncodeError`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError as error:
        raise EncodeError(str(error)) from None
