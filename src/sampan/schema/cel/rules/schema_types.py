"""Types of expressions for schemas, and conversion of JSON values to values of expressions.

Source: apiserver pkg/cel/common/{schemas,valuesunstructured}.go, apiextensions-apiserver pkg/apiserver/schema/cel/model
(1.36).
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from sampan.schema.cel import times
from sampan.schema.cel.cost.budget import REQUEST_SIZE_BYTES_MAX
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.syntax.escaping import escape
from sampan.schema.cel.types import BOOL, INT, STRING, CelType, struct
from sampan.schema.cel.values import MapList, ObjectValue, SetList
from sampan.schema.structural import UNSET, ListType, Schema, ValueValidations

Wrap = Callable[[Any], Any]

_NO_LIMITS = ValueValidations()
_TEXT_LENGTH_MAX = REQUEST_SIZE_BYTES_MAX - 2
_TIME_SIZE_MAX = 32
_DATE_SIZE = 12
_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?", re.ASCII)
_WORDY_DURATION = re.compile(r"(?<!\d)(\d+)\s*([A-Za-zµ]+)")
_WORDY_UNITS = {
    "ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "sec": 10**9, "second": 10**9, "m": 60 * 10**9,
    "min": 60 * 10**9, "minute": 60 * 10**9, "h": 3600 * 10**9, "hr": 3600 * 10**9, "hour": 3600 * 10**9,
    "d": 86400 * 10**9, "day": 86400 * 10**9, "w": 604800 * 10**9, "wk": 604800 * 10**9, "week": 604800 * 10**9,
}  # fmt: skip


def schema_type(schema: Schema, name: str = "selfType", *, is_root: bool = False) -> CelType | None:
    """Return the type of the values that a schema allows; None if expressions cannot access them.

    `is_root`: the schema is that of a whole object, with apiVersion, kind and metadata. Of the metadata, expressions
    can access what the schema declares, if it declares all of apiVersion, kind, name and generateName; otherwise only
    name and generateName.
    """
    return _Builder().build(schema, name, is_root=is_root)


class _Builder:
    def __init__(self) -> None:
        self._in_progress: set[int] = set()

    def build(self, schema: Schema, name: str, *, is_root: bool) -> CelType | None:
        if schema.int_or_string or schema.scalar == "int-or-string":
            return _int_or_string(schema)
        if id(schema) in self._in_progress:
            return None
        self._in_progress.add(id(schema))
        try:
            return self._typed(schema, name, is_root=is_root or schema.embedded_resource)
        finally:
            self._in_progress.discard(id(schema))

    def _typed(self, schema: Schema, name: str, *, is_root: bool) -> CelType | None:
        if schema.type == "array":
            return self._list(schema, name)
        if schema.type == "object" or is_root:
            if isinstance(schema.additional_properties, Schema) and not schema.properties:
                return self._map(schema, schema.additional_properties, name)
            return self._object(schema, name, is_root=is_root)
        if schema.type == "string":
            return _text(schema)
        if schema.type == "number":
            return CelType("double", "double", wrap=_to_double)
        return {"boolean": BOOL, "integer": INT}.get(schema.type)

    def _list(self, schema: Schema, name: str) -> CelType | None:
        if schema.items is None:
            return None
        element = self.build(schema.items, f"{name}.@idx", is_root=False)
        if element is None:
            return None
        count = (schema.validations or _NO_LIMITS).max_items
        if count is None:
            count = _TEXT_LENGTH_MAX // (element.min_size_bytes + 1)
        wrap = _list_wrap(schema, element.wrap)
        return CelType("list", "list", (element,), max_elements=max(count, 0), min_size_bytes=2, wrap=wrap)

    def _map(self, schema: Schema, values: Schema, name: str) -> CelType | None:
        value = self.build(values, f"{name}.@elem", is_root=False)
        if value is None:
            return None
        count = (schema.validations or _NO_LIMITS).max_properties
        if count is None:
            count = _TEXT_LENGTH_MAX // (value.min_size_bytes + 6)
        wrap = None if value.wrap is None else _map_wrap(value.wrap)
        return CelType("map", "map", (STRING, value), max_elements=max(count, 0), min_size_bytes=2, wrap=wrap)

    def _object(self, schema: Schema, name: str, *, is_root: bool) -> CelType:
        required = (schema.validations or _NO_LIMITS).required
        fields: dict[str, CelType] = {}
        keys: dict[str, str] = {}
        wraps: dict[str, Wrap] = {}
        size_bytes = 2
        added = _type_and_object_meta(name) if is_root and not _declares_metadata(schema) else {}
        for key, child in schema.properties.items():
            if key in added:
                continue
            kind = self.build(child, f"{name}.{key}", is_root=False)
            if kind is None:
                continue
            if key in required and child.default is UNSET:
                size_bytes += len(key.encode()) + kind.min_size_bytes + 4
            if kind.wrap is not None:
                wraps[key] = kind.wrap
            identifier = escape(key)
            if identifier is not None:
                fields[identifier] = kind
                if identifier != key:
                    keys[identifier] = key
        fields.update(added)
        wrap = _object_wrap(wraps) if wraps else None
        return CelType("struct", name, fields=fields, keys=keys, min_size_bytes=size_bytes, wrap=wrap)


def _declares_metadata(schema: Schema) -> bool:
    """Report whether a schema declares apiVersion, kind and the two names of the metadata.

    Source: apiserver pkg/cel/common/schemas.go `WithTypeAndObjectMeta` (1.36).
    """
    meta = schema.properties.get("metadata")
    if meta is None or meta.type != "object":
        return False
    texts = [schema.properties.get("apiVersion"), schema.properties.get("kind")]
    texts += [meta.properties.get("name"), meta.properties.get("generateName")]
    return all(text is not None and text.type == "string" for text in texts)


def _type_and_object_meta(name: str) -> dict[str, CelType]:
    """Return the types of apiVersion, kind and metadata that every object has."""
    plain = _text(Schema(type="string"))
    meta = struct(f"{name}.metadata", {"name": plain, "generateName": plain})
    return {"apiVersion": plain, "kind": plain, "metadata": meta}


def _int_or_string(schema: Schema) -> CelType:
    length = (schema.validations or _NO_LIMITS).max_length
    return CelType("dyn", "dyn", max_elements=_TEXT_LENGTH_MAX if length is None else max(length, 0) * 4)


_FORMATS: dict[str, tuple[str, int, int]] = {
    "duration": ("duration", _TIME_SIZE_MAX, 3),
    "date": ("timestamp", _DATE_SIZE, _DATE_SIZE),
    "date-time": ("timestamp", _TIME_SIZE_MAX, 21),
}
_SCALARS = {"time": "date-time", "micro-time": "date-time", "bytes": "byte", "duration": "duration"}


def _text(schema: Schema) -> CelType:
    limits = schema.validations or _NO_LIMITS
    format_ = limits.format or _SCALARS.get(schema.scalar, "")
    length = limits.max_length
    if format_ == "byte":
        size = _TEXT_LENGTH_MAX if length is None else max(length, 0)
        return CelType("bytes", "bytes", max_elements=size, min_size_bytes=2, wrap=_WRAPS["byte"])
    if format_ in _FORMATS:
        kind, size, least = _FORMATS[format_]
        return CelType(kind, kind, max_elements=size, min_size_bytes=least, wrap=_WRAPS[format_])
    if length is not None:
        size = max(length, 0) * 4
    elif limits.enum:
        size = max(len(value.encode()) if isinstance(value, str) else 0 for value in limits.enum)
    else:
        size = _TEXT_LENGTH_MAX
    return CelType("string", "string", max_elements=size, min_size_bytes=2)


def _to_double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _to_duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = times.parse_duration(value)
    if found is not None:
        return found
    total = 0
    for count, unit in _WORDY_DURATION.findall(value):
        unit = unit.lower()
        size = _WORDY_UNITS.get(unit) or _WORDY_UNITS.get(unit.removesuffix("s"))
        if size is None or len(count) > 18:
            total = 0
            break
        total += int(count) * size
    if not total:
        raise CelRuntimeError(f"Invalid duration {value}: unable to parse {value} as duration")
    return times.duration_of(total)


def _to_date(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = times.parse_date(value)
    if found is None:
        raise CelRuntimeError(f"Invalid date formatted string {value}: must be like 2006-01-02")
    return found


def _to_timestamp(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = times.parse_timestamp(value)
    if found is None and _LOCAL_TIME.fullmatch(value):
        found = times.parse_timestamp(value.replace(" ", "T") + "Z")
    if found is None:
        raise CelRuntimeError(f"Invalid date-time formatted string {value}: must be like 2006-01-02T15:04:05Z")
    return found


def _to_bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise CelRuntimeError(f"Invalid byte formatted string {value}: illegal base64 data") from None


_WRAPS: dict[str, Wrap] = {
    "byte": _to_bytes,
    "duration": _to_duration,
    "date": _to_date,
    "date-time": _to_timestamp,
}


def _list_wrap(schema: Schema, wrap: Wrap | None) -> Wrap | None:
    def items(value: list[Any]) -> list[Any]:
        return value if wrap is None else [None if item is None else wrap(item) for item in value]

    if schema.list_type is ListType.SET:
        return lambda value: SetList(items(value))
    if schema.list_type is ListType.MAP:
        keys = schema.list_map_keys
        return lambda value: MapList(items(value), keys)
    return None if wrap is None else items


def _map_wrap(wrap: Wrap) -> Wrap:
    return lambda value: {key: None if item is None else wrap(item) for key, item in value.items()}


def _object_wrap(wraps: dict[str, Wrap]) -> Wrap:
    return lambda value: ObjectValue(value, wraps)
