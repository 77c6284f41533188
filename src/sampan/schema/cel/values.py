"""Values of expressions that JSON does not have, and equality and order of all values.

Null, bool, int, double (`float`), string, bytes, list and map are Python's own. Lists and maps are never changed.
Equality never fails: values of different types are unequal, but numbers are compared across types.
"""

from collections.abc import Mapping
from typing import Any

from sampan.core.deep_json import DeepJson
from sampan.schema.cel.errors import CelRuntimeError

INT_MIN, INT_MAX, UINT_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NO_OVERLOAD = "no such overload"


class UInt(int):
    """Unsigned 64-bit integer."""

    __slots__ = ()


class Timestamp:
    """Point in time: nanoseconds since 1970, and the UTC offset (seconds) of its text form."""

    __slots__ = ("ns", "offset_s")

    def __init__(self, ns: int, offset_s: int = 0) -> None:
        self.ns = ns
        self.offset_s = offset_s

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.ns == other.ns

    def __hash__(self) -> int:
        return hash(self.ns)


class Duration:
    """Time span in nanoseconds."""

    __slots__ = ("ns",)

    def __init__(self, ns: int) -> None:
        self.ns = ns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.ns == other.ns

    def __hash__(self) -> int:
        return hash(self.ns)


class TypeValue:
    """Result of `type(x)`, and value of an expression that names a type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class OptionalValue:
    """`optional.of(value)`, or `optional.none()`, which is `NONE`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
NONE = OptionalValue(ABSENT)


class LibraryValue:
    """Value of a type that a library defines. `size` is its size in costs."""

    __slots__ = ()
    type_name = ""
    size = 1


class SetList(list[Any]):
    """List of `x-kubernetes-list-type: set`: equality ignores order; addition is union."""

    __slots__ = ()


class MapList(list[Any]):
    """List of `x-kubernetes-list-type: map`: equality ignores order; addition merges by keys."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> Any:
        """Return the key values of an item as one hashable value."""
        raw = item.raw if isinstance(item, ObjectValue) else item
        values = [raw.get(key) for key in self.keys]
        return tuple(value if value.__hash__ is not None else repr(value) for value in values)


class TextList(list[str]):
    """List of strings that a function extracted from a text. Like other lists, except that code can identify it."""

    __slots__ = ()


class FieldMap(dict[str, Any]):
    """Map that only supports field selection: no size, no `in`; iteration yields its values.

    Source: apiserver pkg/cel/lazy/lazy.go MapValue (1.36).
    """

    __slots__ = ("type_name",)

    def __init__(self, fields: Mapping[str, Any], type_name: str) -> None:
        super().__init__(fields)
        self.type_name = type_name


class ObjectValue:
    """JSON object with declared fields, some of which are converted for expressions.

    `wraps` contains the conversions by property name. Converted values are cached, because an expression may read them
    in a loop.
    """

    __slots__ = ("_converted", "raw", "wraps")

    def __init__(self, raw: dict[str, Any], wraps: dict[str, Any]) -> None:
        self.raw = raw
        self.wraps = wraps
        self._converted: dict[str, Any] | None = None

    def find(self, key: Any) -> Any:
        """Return the value of a property; `ABSENT` if it is missing or null."""
        value = self.raw.get(key)
        if value is None:
            return ABSENT
        wrap = self.wraps.get(key)
        if wrap is None:
            return value
        converted = self._converted
        if converted is None:
            converted = self._converted = {}
        elif key in converted:
            return converted[key]
        found = converted[key] = wrap(value)
        return found

    def items(self) -> list[tuple[str, Any]]:
        """Return all properties that are not null."""
        return [(key, self.find(key)) for key, value in self.raw.items() if value is not None]


_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    SetList: "list",
    MapList: "list",
    TextList: "list",
    dict: "map",
    ObjectValue: "map",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
    OptionalValue: "optional_type",
}


TYPE_NAMES = frozenset(_NAMES.values())
"""Names of the types of values."""


def type_name(value: Any) -> str:
    """Return the name of a value's type, as shown by `type(value)`."""
    found = _NAMES.get(type(value))
    if found is not None:
        return found
    if isinstance(value, DeepJson):
        return "map" if value.is_map else "list"
    return value.type_name if isinstance(value, LibraryValue | FieldMap) else type(value).__name__


_CLASSES: dict[str, str] = {
    "null_type": "types.Null",
    "bool": "types.Bool",
    "int": "types.Int",
    "uint": "types.Uint",
    "double": "types.Double",
    "string": "types.String",
    "bytes": "types.Bytes",
    "list": "*types.baseList",
    "map": "*types.baseMap",
    "google.protobuf.Timestamp": "types.Timestamp",
    "google.protobuf.Duration": "types.Duration",
    "type": "*types.Type",
    "optional_type": "*types.Optional",
}


def class_name(value: Any) -> str:
    """Return the name of a value's class in errors of cel-go, which are not about types of the language."""
    name = type_name(value)
    return _CLASSES.get(name) or f"cel.{name.rpartition('.')[2]}"


_NUMBERS = frozenset((int, UInt, float))
_LISTS = frozenset((list, SetList, MapList, TextList))
_MAPS = frozenset((dict, ObjectValue))


def _equal_lists(left: list[Any], right: list[Any]) -> bool:
    if len(left) != len(right):
        return False
    if type(left) is SetList and all(type(item) in (str, int, bool) for item in left):
        return all(any(equal(item, other) for other in right) for item in left)
    if type(left) is MapList:
        return _equal_by_key(left, right)
    return all(map(equal, left, right))


def _equal_by_key(left: MapList, right: list[Any]) -> bool:
    by_key = {left.key_of(item): item for item in left}
    for item in right:
        found = by_key.get(left.key_of(item), ABSENT)
        if found is ABSENT or not equal(found, item):
            return False
    return True


def find_key(container: Any, key: Any) -> Any:
    """Return the value of a key in a map; `ABSENT` if there is none. Numeric keys match across numeric types."""
    if type(container) is ObjectValue:
        return container.find(key)
    kind = type(key)
    if kind is str:
        return container.get(key, ABSENT)
    if kind is float and not key.is_integer():
        return ABSENT
    if kind not in _NUMBERS and kind is not bool:
        return ABSENT
    for found in container:
        if equal(found, key):
            return container[found]
    return ABSENT


def _equal_maps(left: Any, right: Any) -> bool:
    mine = dict(left.items())
    theirs = dict(right.items())
    if len(mine) != len(theirs):
        return False
    for key, value in mine.items():
        other = find_key(theirs, key)
        if other is ABSENT or not equal(value, other):
            return False
    return True


def equal(left: Any, right: Any) -> bool:
    """Return CEL's `left == right`."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind in _LISTS:
            return _equal_lists(left, right)
        if kind in _MAPS:
            return _equal_maps(left, right)
        if kind is FieldMap:
            return left is right
        if kind is OptionalValue:
            if left.value is ABSENT or right.value is ABSENT:
                return left.value is right.value
            return equal(left.value, right.value)
        return bool(left == right)
    if kind in _NUMBERS and other in _NUMBERS:
        if kind is float or other is float:
            return float(left) == float(right)
        return bool(left == right)
    if kind in _LISTS and other in _LISTS:
        return _equal_lists(left, right)
    if kind in _MAPS and other in _MAPS:
        return _equal_maps(left, right)
    if kind is FieldMap:
        raise CelRuntimeError(NO_OVERLOAD)
    return False


_ORDERED = frozenset((bool, str, bytes))


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1. **Raises** CelRuntimeError for values that have no order."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        if kind is float or other is float:
            left, right = float(left), float(right)
            if left != left or right != right:
                raise CelRuntimeError("NaN values cannot be ordered")
    elif kind is other and kind in (Timestamp, Duration):
        left, right = left.ns, right.ns
    elif kind is not other or kind not in _ORDERED:
        raise CelRuntimeError(NO_OVERLOAD)
    return int(left > right) - int(left < right)


def contains(items: list[Any], value: Any) -> bool:
    """Return CEL's `value in items`."""
    if type(value) is str:
        return value in items
    return any(equal(item, value) for item in items)


def size_of(value: Any) -> int:
    """Return the size of a value in costs: code points, bytes, items, entries; 1 for all others."""
    kind = type(value)
    if kind is str or kind is bytes or kind in _LISTS or kind is dict:
        return len(value)
    if kind is ObjectValue:
        return len(value.raw)
    if kind is OptionalValue:
        return 1 if value.value is ABSENT else size_of(value.value)
    return int(value.size) if isinstance(value, LibraryValue) else 1


def is_zero(value: Any) -> bool:
    """Report whether a value is the zero value of its type: null, false, 0, empty."""
    if isinstance(value, Timestamp | TypeValue | OptionalValue | LibraryValue):
        return value is NONE or (isinstance(value, Timestamp) and value.ns == -62135596800 * 10**9)
    if isinstance(value, Duration):
        return value.ns == 0
    return size_of(value) == 0 if isinstance(value, ObjectValue) else not value
