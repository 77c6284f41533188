"""Resolve plain YAML scalars to JSON values as Kubernetes does: YAML 1.1 as read by Go's yaml.v2.

`yes` and `on` are booleans, `0777` is octal, `1e3` is the integer 1000; `12:30` and dates are strings.
Source: go.yaml.in/yaml/v2 resolve.go, sigs.k8s.io/yaml (1.6.0).
"""

import base64
import binascii
import math
import re
import struct
from typing import Any, Final

from sampan.core.field import show_float
from sampan.core.go_text import unsupported_number
from sampan.core.json.values import whole_number
from sampan.wire.json import DecodeError

_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_CONSTANTS: Final[dict[str, tuple[str, Any]]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), ("bool", True)),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), ("bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", math.nan)),
    **{sign + text: ("float", math.inf) for sign in ("", "+") for text in (".inf", ".Inf", ".INF")},
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("float", -math.inf)),
}
_HINTS: Final = frozenset("+-0123456789yYnNtTfFoO~.")
"""First characters of all scalars that may not be strings."""

_is_whole = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]{0,19}))").fullmatch
_is_float = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?").fullmatch
_is_dot_float = re.compile(r"\.[0-9]+([eE][-+]?[0-9]+)?").fullmatch
_is_base_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?").fullmatch
_is_date = re.compile(r"[0-9]{4}-").match


def resolve(text: str) -> tuple[str, Any]:
    """Return the short tag and the value of a plain scalar without a tag."""
    if text and text[0] not in _HINTS:
        return "str", text
    constant = _CONSTANTS.get(text)
    if constant is not None:
        return constant
    first = text[0]
    if first == ".":
        return _float(text) if _is_dot_float(text) else ("str", text)
    if first not in "+-0123456789" or _is_date(text):
        return "str", text
    plain = text.replace("_", "")
    whole = _whole(plain)
    if whole is not None:
        return "int", whole
    return _float(plain, text) if _is_float(plain) else ("str", text)


def _float(plain: str, text: str | None = None) -> tuple[str, Any]:
    number = float(plain)
    if math.isinf(number):
        return "str", plain if text is None else text
    return "float", number


NULL_KEY: Final = "yaml: invalid map key: must not be null; quote it to use it as text"
"""Error for a map whose key is null."""
_BASES = (16, 2, 8, 10)


def _whole(plain: str) -> int | None:
    match = _is_whole(plain)
    if match is None:
        return None
    sign, *numbers = match.groups()
    for digits, base in zip(numbers, _BASES, strict=True):
        if digits and len(digits) <= 70:
            number = -int(digits, base) if sign == "-" else int(digits, base)
            limit = 2**63 if sign else 2**64
            return number if -(2**63) <= number < limit else None
    return None


def scalar_value(text: str, tag: str | None, *, plain: bool) -> Any:
    """Return the JSON value of a scalar event. Raises `DecodeError`."""
    if tag is None:
        return json_number(resolve(text)[1]) if plain else text
    short = tag.removeprefix(_TAG_PREFIX)
    if short == "str" or short == tag:
        return text
    if short == "binary":
        return _binary(text)
    if short not in ("bool", "int", "float", "null", "timestamp"):
        return text
    found, value = resolve(text)
    if found == short or (found == "int" and short == "float"):
        return json_number(value)
    if short == "timestamp" and _is_date(text):
        return text
    raise DecodeError(f"yaml: cannot decode !!{found} `{text}` as a !!{short}")


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise DecodeError("yaml: !!binary value contains invalid base64 data") from None


def json_number(value: Any) -> Any:
    """Convert whole floats to int, because Go writes them to JSON without a decimal point. Raises `DecodeError`."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise DecodeError(unsupported_number(value))
    return whole_number(value)


def key_text(text: str, tag: str | None, *, plain: bool) -> tuple[str, str]:
    """Return a map key in JSON, and its form in Go's errors if it is not a string. Raises `DecodeError`."""
    if tag is None and not plain:
        return text, ""
    found, value = resolve(text) if tag is None else ("str", scalar_value(text, tag, plain=plain))
    if isinstance(value, str):
        return value, ""
    if value is None:
        raise DecodeError(NULL_KEY)
    if isinstance(value, bool):
        shown = "true" if value else "false"
        return shown, shown
    if found == "float":
        shown = _float_key(value)
        return shown, shown
    if value >= 2**63:
        raise DecodeError(f"unsupported map key of type: uint64, key: 0x{value:x}")
    return str(value), str(value)


def _float_key(number: float) -> str:
    """Format a float as a key: the shortest text of its 32-bit form."""
    if math.isnan(number):
        return ".nan"
    if math.isinf(number) or abs(number) > 3.4028235677973366e38:
        return ".inf" if number > 0 else "-.inf"
    (single,) = struct.unpack("f", struct.pack("f", number))
    for digits in range(1, 10):
        text = f"{single:.{digits - 1}e}"
        if struct.pack("f", float(text)) == struct.pack("f", single):
            break
    return show_float(float(text))


def reads_as_string(text: str) -> bool:
    """Report whether this text, unquoted, is read as a string, also by readers of YAML 1.1."""
    if not text or text[0] in _HINTS:
        return resolve(text)[0] == "str" and not _is_base_60(text) and not _is_timestamp(text)
    return True


_is_timestamp_shape = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})?)?"
).fullmatch


def _is_timestamp(text: str) -> bool:
    return _is_timestamp_shape(text) is not None
