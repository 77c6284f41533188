"""Format strings: `'%s'.format([...])`. Source: cel-go ext/formatting.go (0.26, locale en_US)."""

import functools
import math
from collections.abc import Callable
from typing import Any

from sampan.core.field import quote
from sampan.schema.cel import operators, times
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.values import (
    Duration,
    MapList,
    ObjectValue,
    SetList,
    Timestamp,
    TypeValue,
    UInt,
    type_name,
)

_SUPERSCRIPT = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹\u207a\u207b")
_PRECISION_DEFAULT, _PRECISION_MAX = 6, 1000
_STRING_RULE = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    "and timestamps"
)
_DECIMAL_RULE = "decimal clause can only be used on integers"
_BINARY_RULE = "only integers and bools can be formatted as binary"
_HEX_RULE = "only integers, byte buffers, and strings can be formatted as hex"
_OCTAL_RULE = "octal clause can only be used on integers"


def _inner(value: Any) -> str:
    """Format an element of a list or map as a literal."""
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is bytes:
        return "b" + quote(value.decode(errors="replace"))
    if kind is Timestamp:
        return f'timestamp("{times.format_timestamp(value)}")'
    if kind is Duration:
        return f'duration("{times.format_duration(value)}")'
    if kind is float:
        return f"{value:.6f}" if math.isfinite(value) else f'"{operators.format_double(value)}"'
    return _text(value)


def _map_text(value: Any) -> str:
    pairs = []
    for key, item in value.items():
        if type(key) not in (str, bool, int, UInt):
            raise CelRuntimeError(f"no formatting function for map key of type {type_name(key)}")
        pairs.append((_inner(key), _inner(item)))
    return "{" + ", ".join(f"{key}:{item}" for key, item in sorted(pairs)) + "}"


def _text(value: Any) -> str:
    kind = type(value)
    if kind in (list, SetList, MapList):
        return f"[{', '.join(map(_inner, value))}]"
    if kind in (dict, ObjectValue):
        return _map_text(value)
    if value is None:
        return "null"
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, UInt):
        return str(int(value))
    if kind is float:
        return operators.format_double(value)
    if kind is bytes:
        return str(value.decode(errors="replace"))
    if kind is Timestamp:
        return times.format_timestamp(value)
    if kind is Duration:
        return times.format_duration(value)
    if kind is TypeValue:
        return str(value.name)
    raise _unfit(_STRING_RULE, value)


def _unfit(rule: str, value: Any) -> CelRuntimeError:
    return CelRuntimeError(f"error during formatting: {rule}, was given {type_name(value)}")


def _decimal(value: Any) -> str:
    if type(value) in (int, UInt):
        return str(int(value))
    raise _unfit(_DECIMAL_RULE, value)


def _float(value: Any, clause: str) -> float:
    if type(value) is float:
        return float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise _unfit(f"{clause} clause can only be used on doubles", value)


def _special(number: float) -> str:
    return "NaN" if number != number else ("∞" if number > 0 else "-∞")


def _fixed(value: Any, precision: int) -> str:
    number = _float(value, "fixed-point") or 0.0  # -0.0 is shown without its sign
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(value: Any, precision: int) -> str:
    """Format a number with six digits. The precision of the clause is the minimum width, as in cel-go."""
    number = _float(value, "scientific") or 0.0  # -0.0 is shown without its sign
    if not math.isfinite(number):
        return _special(number).rjust(precision)
    mantissa, _, exponent = f"{number:.{_PRECISION_DEFAULT}e}".partition("e")
    text = f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPT)}"
    return text.rjust(precision)


def _binary(value: Any) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) in (int, UInt):
        return f"{int(value):b}"
    raise _unfit(_BINARY_RULE, value)


def _hex(value: Any) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):x}"
    if type(value) is str:
        return str(value.encode(errors="surrogatepass").hex())
    if type(value) is bytes:
        return str(value.hex())
    raise _unfit(_HEX_RULE, value)


def _upper_hex(value: Any) -> str:
    return _hex(value).upper()


def _octal(value: Any) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):o}"
    raise _unfit(_OCTAL_RULE, value)


_PLAIN: dict[str, Callable[[Any], str]] = {
    "s": _text,
    "d": _decimal,
    "b": _binary,
    "x": _hex,
    "X": _upper_hex,
    "o": _octal,
}
_WITH_PRECISION: dict[str, Callable[[Any, int], str]] = {"f": _fixed, "e": _scientific}


def _precision(text: str, position: int) -> tuple[int, int]:
    """Return the number after a dot, and the position after it."""
    if text[position : position + 1] != ".":
        return _PRECISION_DEFAULT, position
    end = position + 1
    while text[end : end + 1].isdigit() and text[end].isascii():
        end += 1
    parsing = "could not parse formatting clause: error while parsing precision: "
    if end >= len(text):
        raise CelRuntimeError(parsing + "could not find end of precision specifier")
    digits = text[position + 1 : end]
    if not digits or len(digits) > 4 or int(digits) > _PRECISION_MAX:
        raise CelRuntimeError(f'{parsing}error while converting precision to integer: "{digits[:20]}"')
    return int(digits), end


@functools.lru_cache(maxsize=1024)
def clauses(text: str, count: int) -> tuple[str | tuple[str, int], ...]:
    """Parse a format string with `count` arguments into literal texts and clauses (verb, precision).

    **Raises** CelRuntimeError.
    """
    parts: list[str | tuple[str, int]] = []
    position, used = 0, 0
    while True:
        percent = text.find("%", position)
        if percent < 0:
            return (*parts, text[position:])
        parts.append(text[position:percent])
        position = percent + 1
        if text[position : position + 1] == "%":
            parts.append("%")
            position += 1
            continue
        if used >= count:
            raise CelRuntimeError(f"index {used} out of range")
        if position >= len(text):
            raise CelRuntimeError("unexpected end of string")
        precision, position = _precision(text, position)
        verb = text[position]
        if verb not in _PLAIN and verb not in _WITH_PRECISION:
            raise CelRuntimeError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        parts.append((verb, precision))
        position += 1
        used += 1


def format_text(text: str, args: list[Any]) -> str:
    """Format the arguments; extra arguments are ignored. **Raises** CelRuntimeError."""
    values = iter(args)
    shown: list[str] = []
    for part in clauses(text, len(args)):
        if isinstance(part, str):
            shown.append(part)
            continue
        verb, precision = part
        plain = _PLAIN.get(verb)
        shown.append(plain(next(values)) if plain is not None else _WITH_PRECISION[verb](next(values), precision))
    return "".join(shown)


_KINDS: dict[str, tuple[frozenset[str], str]] = {
    "s": (
        frozenset(
            ("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null")
        ),
        _STRING_RULE,
    ),
    "d": (frozenset(("int", "uint")), _DECIMAL_RULE),
    "f": (frozenset(("double", "string")), "fixed-point clause can only be used on doubles"),
    "e": (frozenset(("double", "string")), "scientific clause can only be used on doubles"),
    "b": (frozenset(("int", "uint", "bool")), _BINARY_RULE),
    "x": (frozenset(("int", "uint", "string", "bytes")), _HEX_RULE),
    "X": (frozenset(("int", "uint", "string", "bytes")), _HEX_RULE),
    "o": (frozenset(("int", "uint")), _OCTAL_RULE),
}


def misuse(verb: str, kind: str, name: str) -> str:
    """Return the error for a clause that does not support a type, given by kind and name; "" if it does."""
    kinds, rule = _KINDS[verb]
    return "" if kind in kinds or kind == "dyn" else f"error during formatting: {rule}, was given {name}"
