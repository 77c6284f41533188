"""Messages of `google.protobuf` that expressions can construct: `google.protobuf.BoolValue{value: true}`.

Their values are those of the language: a `BoolValue` is a bool. Source: cel-go common/types/{provider,json}*.go (0.26).
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    map_of,
    wrapper_of,
)
from sampan.schema.cel.values import INT_MAX, INT_MIN, Duration, Timestamp, UInt

_PREFIX: Final = "google.protobuf."
_SECOND: Final = 10**9


@dataclass(frozen=True, slots=True)
class Message:
    """Message: type of its values, fields, and the function that makes a value of the fields that are set."""

    type: CelType
    fields: Mapping[str, CelType]
    make: Callable[[dict[str, Any]], Any]


def _wrapper(kind: CelType, default: Any, convert: Callable[[Any], Any] | None = None) -> Message:
    def make(values: dict[str, Any]) -> Any:
        value = values.get("value", default)
        return value if convert is None else convert(value)

    return Message(wrapper_of(kind), {"value": kind}, make)


def _float(value: float) -> float:
    """Return the number with the precision of 32 bits."""
    try:
        found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return found


def _int32(value: int) -> int:
    if not -(2**31) <= value < 2**31:
        raise _overflow("Int32Value", "integer overflow")
    return value


def _uint32(value: int) -> int:
    if value >= 2**32:
        raise _overflow("UInt32Value", "unsigned integer overflow")
    return value


def _overflow(name: str, problem: str) -> CelRuntimeError:
    return CelRuntimeError(f"field type conversion error for {_PREFIX}{name}.value value type: {problem}")


def _ns(values: dict[str, Any]) -> int:
    return int(values.get("seconds", 0)) * _SECOND + int(values.get("nanos", 0))


def _duration(values: dict[str, Any]) -> Duration:
    return Duration(min(max(_ns(values), INT_MIN), INT_MAX))


def _value(values: dict[str, Any]) -> Any:
    """Return the field that is set last: the fields are alternatives."""
    if not values:
        return None
    name, value = list(values.items())[-1]
    return None if name == "null_value" else _json(value)


def _json(value: Any) -> Any:
    """Return a value as JSON has it: its numbers are doubles."""
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _any(values: dict[str, Any]) -> Any:
    raise CelRuntimeError(f"unsupported conversion of {_PREFIX}Any: its type is not known")


_ALTERNATIVES: Final = {
    "null_value": INT,
    "number_value": DOUBLE,
    "string_value": STRING,
    "bool_value": BOOL,
    "struct_value": map_of(STRING, DYN),
    "list_value": list_of(DYN),
}
_TIME: Final = {"seconds": INT, "nanos": INT}

MESSAGES: Final[Mapping[str, Message]] = {
    _PREFIX + name: message
    for name, message in {
        "BoolValue": _wrapper(BOOL, False),
        "BytesValue": _wrapper(BYTES, b""),
        "DoubleValue": _wrapper(DOUBLE, 0.0),
        "FloatValue": _wrapper(DOUBLE, 0.0, _float),
        "Int32Value": _wrapper(INT, 0, _int32),
        "Int64Value": _wrapper(INT, 0),
        "StringValue": _wrapper(STRING, ""),
        "UInt32Value": _wrapper(UINT, UInt(0), _uint32),
        "UInt64Value": _wrapper(UINT, UInt(0)),
        "Timestamp": Message(TIMESTAMP, _TIME, lambda values: Timestamp(_ns(values))),
        "Duration": Message(DURATION, _TIME, _duration),
        "Any": Message(ANY, {"type_url": STRING, "value": BYTES}, _any),
        "Value": Message(DYN, _ALTERNATIVES, _value),
        "Struct": Message(
            map_of(STRING, DYN), {"fields": map_of(STRING, DYN)}, lambda values: _json(values.get("fields", {}))
        ),
        "ListValue": Message(list_of(DYN), {"values": list_of(DYN)}, lambda values: _json(values.get("values", []))),
    }.items()
}
"""Messages by name."""
