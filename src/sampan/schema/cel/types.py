"""`CelType`: types of expressions, and of the data that schemas declare.

Sizes are upper limits for the cost estimate: code points or bytes of strings, items of lists, entries of maps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class CelType:
    """Type. `name` distinguishes structs, opaque types and type parameters.

    `kind` is bool, int, uint, double, string, bytes, null, timestamp, duration, dyn, list, map, struct, type, opaque,
    wrapper, param or error.
    """

    kind: str
    name: str
    params: tuple["CelType", ...] = ()
    fields: Mapping[str, "CelType"] = field(default_factory=dict)
    """Fields of a struct by the identifier that expressions use."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Property names of a struct by identifier, if the two differ."""
    max_elements: int | None = None
    min_size_bytes: int = 1
    """Minimum number of bytes of a value in JSON."""
    wrap: Callable[[Any], Any] | None = None
    """Conversion of a JSON value to the value for expressions; None if they are the same."""

    def __str__(self) -> str:
        if self.kind == "error":
            return "!error!"
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(str(param) for param in self.params)})"

    __repr__ = __str__


BOOL = CelType("bool", "bool", min_size_bytes=4)
INT = CelType("int", "int")
UINT = CelType("uint", "uint")
DOUBLE = CelType("double", "double")
STRING = CelType("string", "string", min_size_bytes=2)
BYTES = CelType("bytes", "bytes", min_size_bytes=2)
NULL = CelType("null", "null", min_size_bytes=4)
TIMESTAMP = CelType("timestamp", "timestamp")
DURATION = CelType("duration", "duration")
DYN = CelType("dyn", "dyn")
ANY = CelType("dyn", "any")
"""Type like `DYN`, but a comprehension over a value of this type requires `dyn()`."""
ERROR = CelType("error", "!error!")


def list_of(element: CelType) -> CelType:
    """Return `list(element)`."""
    return CelType("list", "list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """Return `map(key, value)`."""
    return CelType("map", "map", (key, value))


def optional_of(value: CelType) -> CelType:
    """Return `optional_type(value)`."""
    return CelType("opaque", "optional_type", (value,))


def wrapper_of(value: CelType) -> CelType:
    """Return `wrapper(value)`: the type of a value that may also be null."""
    return CelType("wrapper", "wrapper", (value,))


def unwrap(kind: CelType) -> CelType:
    """Return T of `wrapper(T)`; other types unchanged."""
    return kind.params[0] if kind.kind == "wrapper" else kind


def type_of(value: CelType) -> CelType:
    """Return `type(value)`, the type of type values."""
    return CelType("type", "type", (value,))


def param(name: str) -> CelType:
    """Return a type parameter of a declaration."""
    return CelType("param", name)


def struct(name: str, fields: Mapping[str, CelType] | None = None) -> CelType:
    """Return an object type with declared fields."""
    return CelType("struct", name, fields=fields or {})


def opaque(name: str) -> CelType:
    """Return a type of a library whose values have no fields."""
    return CelType("opaque", name)


def is_optional(kind: CelType) -> bool:
    """Report whether a type is `optional_type(T)`."""
    return kind.kind == "opaque" and kind.name == "optional_type"


def unwrap_optional(kind: CelType) -> tuple[CelType, bool]:
    """Return T of `optional_type(T)`, and True if the type was an `optional_type(T)`."""
    return (kind.params[0], True) if is_optional(kind) else (kind, False)


def same(left: CelType, right: CelType) -> bool:
    """Report whether two types are exactly the same."""
    if left is right:
        return True
    return (
        left.kind == right.kind
        and left.name == right.name
        and len(left.params) == len(right.params)
        and all(same(a, b) for a, b in zip(left.params, right.params, strict=True))
    )
