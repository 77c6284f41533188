"""Bodies of built-in kinds in which every field holds a huge number."""

from dataclasses import dataclass
from typing import Any

from sampan.schema.structural import Schema

DIGITS = "9" * 5000
"""More digits than Python turns into an integer."""
_KEYS = ("cpu", "memory", "storage", "hugepages-1e999999999", "example.com/gpu")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The value that each type of field gets."""

    quantity: str
    int64: int
    int32: int
    int_or_string: int | str
    time: str
    duration: str
    number: float
    text: str


_OLD, _NEW = "0001-01-01T00:00:01", "9999-12-31T23:59:59"
NUMBERS = {
    "large": Numbers("1e999999999", 2**63 - 1, 2**31 - 1, f"{DIGITS}%", _NEW, "2562047h", 1e308, "a"),
    "negative": Numbers(
        "-1e999999999", -(2**63), -(2**31), -(2**31), "0001-01-01T00:00:01", "-2562047h", -1e308, DIGITS
    ),
    "tiny": Numbers("1e-999999999", 1, 1, "99999999999999999999%", "2020-01-01T00:00:00", "1ns", 5e-324, f"0-{DIGITS}"),
    "long": Numbers(f"{DIGITS[:999]}Ei", 10**18, 65536, 0, _NEW, "2562047h", 0.1, f"1.2.3.4/{DIGITS}"),
    "exponents": Numbers("1e2147483647", 0, 0, "0%", "1970-01-01T00:00:00", "0s", 0.0, "1e999999999"),
    "containers": Numbers("1E-2147483648", 2**53, 80, 1, "2020-01-01T00:00:00", "1h", 1.0, "Container"),
}


def body_of(schema: Schema, numbers: Numbers, above: tuple[int, ...] = ()) -> Any:
    """Return an object that has every field of the schema; types that contain themselves (`above`) end empty."""
    validations = schema.validations
    match schema.scalar or (validations.format if validations is not None else ""):
        case "quantity":
            return numbers.quantity
        case "int-or-string":
            return numbers.int_or_string
        case "time":
            return f"{numbers.time}Z"
        case "micro-time":
            return f"{numbers.time}.000000Z"
        case "duration":
            return numbers.duration
        case "bytes" | "byte":
            return "YQ=="
        case "int32":
            return numbers.int32
    scalars = {"integer": numbers.int64, "number": numbers.number, "boolean": True, "string": numbers.text}
    if schema.type == "object":
        return {} if id(schema) in above else _object_of(schema, numbers, (*above, id(schema)))
    if schema.type == "array" and schema.items is not None:
        item = body_of(schema.items, numbers, above)
        return [] if item is None else [item]
    return scalars.get(schema.type)


def _object_of(schema: Schema, numbers: Numbers, above: tuple[int, ...]) -> dict[str, Any]:
    fields = dict(schema.properties)
    if len(above) == 1:
        fields = {name: child for name, child in fields.items() if name not in ("apiVersion", "kind", "metadata")}
    if isinstance(schema.additional_properties, Schema):
        fields |= dict.fromkeys(_KEYS, schema.additional_properties)
    values = ((name, body_of(child, numbers, above)) for name, child in fields.items())
    return {name: value for name, value in values if value is not None}
