"""Standard functions and operators. Source: cel-go common/stdlib/standard.go (0.26)."""

from collections.abc import Callable
from typing import Any

from sampan.core.numbers.integers import parse_integer
from sampan.schema.cel import operators, times
from sampan.schema.cel.declarations import (
    Library,
    Overload,
    both_traversals,
    first_traversal,
    function,
    member,
    regex_traversal,
    smaller_traversal,
    traversal,
    with_cost,
)
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.library.regex import matches
from sampan.schema.cel.types import (
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
    param,
    type_of,
)
from sampan.schema.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    compare,
    equal,
    size_of,
    type_name,
)

_A, _B = param("A"), param("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)
_FREE_COPY_MAX = 1000


def _unequal(left: Any, right: Any) -> bool:
    return not equal(left, right)


def _logic(*_: Any) -> Any:
    raise CelRuntimeError("no such overload")


def _not(value: Any) -> bool:
    if value is True or value is False:
        return not value
    raise operators.no_overload()


def _less(left: Any, right: Any) -> bool:
    return compare(left, right) < 0


def _less_or_equal(left: Any, right: Any) -> bool:
    return compare(left, right) <= 0


def _greater(left: Any, right: Any) -> bool:
    return compare(left, right) > 0


def _greater_or_equal(left: Any, right: Any) -> bool:
    return compare(left, right) >= 0


def _orders(name: str, impl: Callable[[Any, Any], bool]) -> list[Overload]:
    key = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}[name]
    pairs = [
        (BOOL, BOOL), (INT, INT), (INT, DOUBLE), (INT, UINT), (UINT, UINT), (UINT, DOUBLE), (UINT, INT),
        (DOUBLE, DOUBLE), (DOUBLE, INT), (DOUBLE, UINT), (TIMESTAMP, TIMESTAMP), (DURATION, DURATION),
    ]  # fmt: skip
    plain = [function(name, f"{key}_{a}_{b}", (a, b), BOOL, impl) for a, b in pairs]
    texts = [function(name, f"{key}_{kind}", (kind, kind), BOOL, impl) for kind in (STRING, BYTES)]
    return [*plain, *with_cost(smaller_traversal, texts)]


def _join_lists_cost(args: tuple[Any, ...], result: Any) -> int:
    """Return 1, as in Kubernetes, which joins lists without a copy; more for long lists, because Sampan copies them."""
    return 1 + max(size_of(args[0]) + size_of(args[1]) - _FREE_COPY_MAX, 0) // 100


_ARITHMETIC = (
    *with_cost(
        both_traversals,
        (
            function("_+_", "add_bytes", (BYTES, BYTES), BYTES, operators.add),
            function("_+_", "add_string", (STRING, STRING), STRING, operators.add),
        ),
    ),
    function("_+_", "add_double", (DOUBLE, DOUBLE), DOUBLE, operators.add),
    function("_+_", "add_duration_duration", (DURATION, DURATION), DURATION, operators.add),
    function("_+_", "add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, operators.add),
    function("_+_", "add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, operators.add),
    function("_+_", "add_int64", (INT, INT), INT, operators.add),
    *with_cost(_join_lists_cost, (function("_+_", "add_list", (_LIST, _LIST), _LIST, operators.add),)),
    function("_+_", "add_uint64", (UINT, UINT), UINT, operators.add),
    function("_-_", "subtract_double", (DOUBLE, DOUBLE), DOUBLE, operators.subtract),
    function("_-_", "subtract_duration_duration", (DURATION, DURATION), DURATION, operators.subtract),
    function("_-_", "subtract_int64", (INT, INT), INT, operators.subtract),
    function("_-_", "subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, operators.subtract),
    function("_-_", "subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, operators.subtract),
    function("_-_", "subtract_uint64", (UINT, UINT), UINT, operators.subtract),
    *(function("_*_", f"multiply_{kind}", (kind, kind), kind, operators.multiply) for kind in (DOUBLE, INT, UINT)),
    *(function("_/_", f"divide_{kind}", (kind, kind), kind, operators.divide) for kind in (DOUBLE, INT, UINT)),
    *(function("_%_", f"modulo_{kind}", (kind, kind), kind, operators.modulo) for kind in (INT, UINT)),
    *(function("-_", f"negate_{kind}", (kind,), kind, operators.negate) for kind in (DOUBLE, INT)),
)


def _in_list_cost(args: tuple[Any, ...], result: Any) -> int:
    return size_of(args[1])


_RELATIONS = (
    function("_?_:_", "conditional", (BOOL, _A, _A), _A, _logic),
    function("_&&_", "logical_and", (BOOL, BOOL), BOOL, _logic),
    function("_||_", "logical_or", (BOOL, BOOL), BOOL, _logic),
    function("!_", "logical_not", (BOOL,), BOOL, _not),
    function("@not_strictly_false", "not_strictly_false", (BOOL,), BOOL, _logic),
    *with_cost(
        smaller_traversal,
        (
            function("_==_", "equals", (_A, _A), BOOL, equal),
            function("_!=_", "not_equals", (_A, _A), BOOL, _unequal),
        ),
    ),
    *_orders("_<_", _less),
    *_orders("_<=_", _less_or_equal),
    *_orders("_>_", _greater),
    *_orders("_>=_", _greater_or_equal),
    function("_[_]", "index_list", (_LIST, INT), _A, operators.index),
    function("_[_]", "index_map", (_MAP, _A), _B, operators.index),
    *with_cost(_in_list_cost, (function("@in", "in_list", (_A, _LIST), BOOL, operators.is_in),)),
    function("@in", "in_map", (_A, _MAP), BOOL, operators.is_in),
    *(function("size", f"size_{kind.kind}", (kind,), INT, operators.size) for kind in (BYTES, _LIST, _MAP, STRING)),
    *(member("size", f"{kind.kind}_size", (kind,), INT, operators.size) for kind in (BYTES, _LIST, _MAP, STRING)),
)


def _failed(value: Any, expected: str) -> CelRuntimeError:
    return CelRuntimeError(f"type conversion error from '{type_name(value)}' to '{expected}'")


_TRUE, _FALSE = {"1", "t", "T", "TRUE", "true", "True"}, {"0", "f", "F", "FALSE", "false", "False"}


def _same(value: Any) -> Any:
    return value


def _to_bool(value: Any) -> bool:
    if value in _TRUE or value in _FALSE:
        return value in _TRUE
    raise _failed(value, "bool")


def _parse_integer(text: str, expected: str) -> int:
    low, high = (INT_MIN, INT_MAX) if expected == "int" else (0, UINT_MAX)
    try:
        return parse_integer(text, low=low, high=high)
    except ValueError:
        raise _failed(text, expected) from None


def _to_int(value: Any) -> int:
    if isinstance(value, str):
        return _parse_integer(value, "int")
    if isinstance(value, Timestamp):
        return value.ns // 10**9
    if isinstance(value, Duration):
        return value.ns
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise CelRuntimeError("integer overflow")
        return int(value)
    return operators.int_of(int(value))


def _to_uint(value: Any) -> UInt:
    if isinstance(value, str):
        return UInt(_parse_integer(value, "uint"))
    if isinstance(value, float) and not 0 <= value < 2.0**64:
        raise CelRuntimeError("unsigned integer overflow")
    return operators.uint_of(int(value))


def _to_double(value: Any) -> float:
    try:
        if isinstance(value, str) and (value != value.strip() or "_" in value):
            raise ValueError
        return float(value)
    except (ValueError, OverflowError):
        raise _failed(value, "double") from None


def to_string(value: Any) -> str:
    """Return `string(value)`. **Raises** CelRuntimeError."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return operators.format_double(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise CelRuntimeError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, Timestamp):
        return times.format_timestamp(value)
    if isinstance(value, Duration):
        return times.format_duration(value)
    if isinstance(value, TypeValue):
        return value.name
    raise _failed(value, "string")


def _to_bytes(value: str) -> bytes:
    return value.encode(errors="surrogatepass")


def _to_duration(value: Any) -> Duration:
    if isinstance(value, int):
        return Duration(value)
    found = times.parse_duration(value)
    if found is None:
        raise _failed(value, "google.protobuf.Duration")
    return found


def _to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, int):
        return times.timestamp_of(value * 10**9)
    found = times.parse_timestamp(value)
    if found is None:
        raise _failed(value, "google.protobuf.Timestamp")
    return found


def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


def _conversions(
    name: str, result: CelType, sources: tuple[CelType, ...], impl: Callable[[Any], Any]
) -> tuple[Overload, ...]:
    identity = function(name, f"{result}_to_{result}", (result,), result, _same)
    return (identity, *(function(name, f"{kind}_to_{result}", (kind,), result, impl) for kind in sources))


_CONVERSIONS = (
    function("type", "type", (_A,), type_of(_A), _type),
    function("dyn", "to_dyn", (_A,), DYN, _same),
    *_conversions("bool", BOOL, (STRING,), _to_bool),
    function("bytes", "bytes_to_bytes", (BYTES,), BYTES, _same),
    *with_cost(first_traversal, (function("bytes", "string_to_bytes", (STRING,), BYTES, _to_bytes),)),
    *_conversions("double", DOUBLE, (INT, STRING, UINT), _to_double),
    *_conversions("duration", DURATION, (INT, STRING), _to_duration),
    *_conversions("int", INT, (DOUBLE, DURATION, STRING, TIMESTAMP, UINT), _to_int),
    *_conversions("string", STRING, (BOOL, DOUBLE, DURATION, INT, TIMESTAMP, UINT), to_string),
    *with_cost(first_traversal, (function("string", "bytes_to_string", (BYTES,), STRING, to_string),)),
    *_conversions("timestamp", TIMESTAMP, (INT, STRING), _to_timestamp),
    *_conversions("uint", UINT, (DOUBLE, INT, STRING), _to_uint),
)


def _contains(text: str, part: str) -> bool:
    return part in text


def _contains_cost(args: tuple[Any, ...], result: Any) -> int:
    return traversal(len(args[0])) * traversal(len(args[1]))


_TEXTS = (
    *with_cost(_contains_cost, (member("contains", "contains_string", (STRING, STRING), BOOL, _contains),)),
    *with_cost(
        first_traversal,
        (
            member("endsWith", "ends_with_string", (STRING, STRING), BOOL, str.endswith),
            member("startsWith", "starts_with_string", (STRING, STRING), BOOL, str.startswith),
        ),
    ),
    function("matches", "matches", (STRING, STRING), BOOL, matches),
    *with_cost(regex_traversal, (member("matches", "matches_string", (STRING, STRING), BOOL, matches),)),
)


def _calendar(part: Callable[[Any], int]) -> Callable[..., int]:
    def read(value: Timestamp, zone: str = "UTC") -> int:
        return part(times.local_time(value, zone))

    return read


def _milliseconds(value: Timestamp, zone: str = "UTC") -> int:
    return value.ns % 10**9 // 10**6


_PARTS: dict[str, Callable[..., int]] = {
    "getFullYear": _calendar(lambda time: int(time.year)),
    "getMonth": _calendar(lambda time: int(time.month) - 1),
    "getDayOfYear": _calendar(lambda time: int(time.timetuple().tm_yday) - 1),
    "getDayOfMonth": _calendar(lambda time: int(time.day) - 1),
    "getDate": _calendar(lambda time: int(time.day)),
    "getDayOfWeek": _calendar(lambda time: int(time.isoweekday()) % 7),
    "getHours": _calendar(lambda time: int(time.hour)),
    "getMinutes": _calendar(lambda time: int(time.minute)),
    "getSeconds": _calendar(lambda time: int(time.second)),
    "getMilliseconds": _milliseconds,
}


def _units(ns: int) -> Callable[[Duration], int]:
    def read(value: Duration) -> int:
        amount = abs(value.ns) // ns
        return -amount if value.ns < 0 else amount

    return read


_DURATION_PARTS = {"getHours": 3600 * 10**9, "getMinutes": 60 * 10**9, "getSeconds": 10**9, "getMilliseconds": 10**6}
_TIMES = (
    *(member(name, f"timestamp_{name}", (TIMESTAMP,), INT, impl) for name, impl in _PARTS.items()),
    *(member(name, f"timestamp_{name}_tz", (TIMESTAMP, STRING), INT, impl) for name, impl in _PARTS.items()),
    *(member(name, f"duration_{name}", (DURATION,), INT, _units(ns)) for name, ns in _DURATION_PARTS.items()),
)

STANDARD = Library((*_RELATIONS, *_ARITHMETIC, *_CONVERSIONS, *_TEXTS, *_TIMES))
CONVERSIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""Functions that are evaluated at compile time, at no cost, if their argument is constant."""
