"""`'%s'.format([...])`: the clauses of format strings. Source: cel-go ext/formatting.go (0.26, locale en_US)."""

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
_PRECISION_MAX = 1000


def _inner(value: Any) -> str:
    """An element of a list or map, as a literal."""
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
    raise _unfit(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
        "and timestamps",
        value,
    )


def _unfit(rule: str, value: Any) -> CelRuntimeError:
    return CelRuntimeError(f"error during formatting: {rule}, was given {type_name(value)}")


def _decimal(value: Any) -> str:
    if type(value) in (int, UInt):
        return str(int(value))
    raise _unfit("decimal clause can only be used on integers", value)


def _float(value: Any, clause: str) -> float:
    if type(value) is float:
        return float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise _unfit(f"{clause} clause can only be used on doubles", value)


def _special(number: float) -> str:
    return "NaN" if number != number else ("∞" if number > 0 else "-∞")


def _fixed(value: Any, precision: int) -> str:
    number = _float(value, "fixed-point")
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(value: Any, precision: int) -> str:
    number = _float(value, "scientific")
    if not math.isfinite(number):
        return _special(number)
    mantissa, _, exponent = f"{number:.{precision}e}".partition("e")
    digits = exponent.lstrip("+-")
    sign = "-" if exponent.startswith("-") else ""
    return f"{mantissa}\u202f×\u202f10{(sign + digits).translate(_SUPERSCRIPT)}"


def _binary(value: Any) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) in (int, UInt):
        return f"{int(value):b}"
    raise _unfit("only integers and bools can be formatted as binary", value)


def _hex(value: Any) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):x}"
    if type(value) is str:
        return str(value.encode(errors="surrogatepass").hex())
    if type(value) is bytes:
        return str(value.hex())
    raise _unfit("only integers, byte buffers, and strings can be formatted as hex", value)


def _upper_hex(value: Any) -> str:
    return _hex(value).upper()


def _octal(value: Any) -> str:
    if type(value) in (int, UInt):
        return f"{int(value):o}"
    raise _unfit("octal clause can only be used on integers", value)


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
    """The number after a dot, and the position behind it."""
    if text[position : position + 1] != ".":
        return 6, position
    end = position + 1
    while text[end : end + 1].isdigit() and text[end].isascii():
        end += 1
    if end == position + 1:
        raise CelRuntimeError("could not parse formatting clause: error while parsing precision")
    number = int(text[position + 1 : end][:10])
    if number > _PRECISION_MAX:
        raise CelRuntimeError("could not parse formatting clause: error while parsing precision")
    return number, end


def format_text(text: str, args: list[Any]) -> str:
    """The text with its clauses replaced by the arguments. **Raises** CelRuntimeError."""
    parts: list[str] = []
    position, used = 0, 0
    while True:
        percent = text.find("%", position)
        if percent < 0:
            parts.append(text[position:])
            break
        parts.append(text[position:percent])
        position = percent + 1
        if position >= len(text):
            raise CelRuntimeError("unexpected end of string")
        if text[position] == "%":
            parts.append("%")
            position += 1
            continue
        if used >= len(args):
            raise CelRuntimeError(f"index {used} out of range")
        precision, position = _precision(text, position)
        parts.append(_clause(text[position : position + 1], args[used], precision))
        position += 1
        used += 1
    if used < len(args):
        raise CelRuntimeError(f"too many arguments supplied to string.format (expected {used}, got {len(args)})")
    return "".join(parts)


def _clause(verb: str, value: Any, precision: int) -> str:
    if verb in _PLAIN:
        return _PLAIN[verb](value)
    if verb in _WITH_PRECISION:
        return _WITH_PRECISION[verb](value, precision)
    raise CelRuntimeError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
