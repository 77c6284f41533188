"""Decode built-in kinds: one pass over the plain dict that does the work of Go's decoder, encoder and defaulting.

A compiled decoder checks types, with Go's error messages. It drops unknown fields, nulls, and values that `omitempty`
omits. It sets the schema's defaults, and the zero values that Go always writes (null for a time). It canonicalizes
quantities, times and base64. Lists that are null in Go's output are omitted.
Source: sigs.k8s.io/json decode.go, apimachinery pkg/runtime/serializer/json (1.36).
"""

import binascii
from collections.abc import Callable
from typing import Any

from sampan.core.go_text import conversion_text, json_kind, json_number
from sampan.core.json.values import with_whole_numbers
from sampan.core.numbers.quantity import canonical as canonical_quantity
from sampan.core.object import Object
from sampan.core.time import canonical_duration, canonical_micro_time, canonical_time
from sampan.schema.decoding.base64_fault import bad_byte
from sampan.schema.decoding.decode_error import DecodeError
from sampan.schema.structural import UNSET, Schema

Lost = list[tuple[Object, str]]
"""Unknown fields that were dropped: the dict that contained each, and its key."""
Decoder = Callable[[Any, Lost], Any]
"""Function that takes a value of the expected JSON type, may change it, and returns the decoded value."""

_TIMES = ("time", "micro-time")
_INT32 = (-(2**31), 2**31 - 1)
_INT64 = (-(2**63), 2**63 - 1)

_EMPTY_IS_NOT_ABSENT = frozenset({("HPAScalingRules", "policies")})
"""Lists for which an empty list does not mean the default: it is kept, so that validation rejects it."""


class DecoderCompiler:
    """Compiler of decoders. Decoders of named types are compiled once and shared."""

    def __init__(self) -> None:
        self._objects: dict[int, Decoder] = {}
        self._kept: list[Schema] = []

    def compile(self, schema: Schema) -> Decoder:
        """Return the decoder of an object type.

        It accepts any JSON value and raises `DecodeError` unless it is an object.
        """
        decode = self._object(schema)
        go_type = _go_name(schema)

        def root(value: Any, lost: Lost) -> Any:
            if type(value) is not dict:
                raise DecodeError(json_kind(value), go_type)
            return decode(value, lost)

        return root

    def _object(self, schema: Schema) -> Decoder:
        key = id(schema.properties)
        known = self._objects.get(key)
        if known is not None:
            return known
        fields: dict[str, tuple[type, bool, Decoder | None, Decoder]] = {}
        texts: set[str] = set()
        absent: list[tuple[str, Callable[[], Any]]] = []
        decode = _object_decoder(schema.name.rpartition(".")[2], fields, texts, absent)
        self._objects[key] = decode
        self._kept.append(schema)
        for name, child in schema.properties.items():
            flags, _, go_type = schema.fields.get(name, "o ").replace("[]byte", "[]uint8").partition(" ")
            if (schema.name.rpartition(".")[2], name) in _EMPTY_IS_NOT_ABSENT:
                flags += "p"
            field = fields[name] = self._field(child, flags, go_type)
            if field[0] is str and field[2] is None:
                texts.add(name)
            maker = self._absent(child, flags)
            if maker is not None:
                absent.append((name, maker))
        return decode

    def _field(self, schema: Schema, flags: str, go_type: str) -> tuple[type, bool, Decoder | None, Decoder]:
        """Return (expected type, whether falsy values are kept, decoder for this type, decoder for all other types)."""
        expected, decode = self._value(schema, go_type or _go_name(schema))
        is_list = expected is list or schema.additional_properties is not None
        is_raw = schema.scalar in ("raw", "fields-v1")
        keep_empty = "p" in flags or ("o" not in flags and not is_list) or is_raw or _is_struct(schema)
        return expected, keep_empty, decode, _other(expected, decode, go_type or _go_name(schema), schema)

    def _absent(self, schema: Schema, flags: str) -> Callable[[], Any] | None:
        """Return a function for the value of an absent field (its default, or Go's zero), or None to omit it."""
        if schema.default is not UNSET and ("p" in flags or schema.default):
            value = schema.default
            return lambda: value
        if "p" in flags or "z" in flags:
            return None
        if _is_struct(schema):
            decode = self._object(schema)
            return lambda: decode({}, [])
        if schema.scalar == "quantity":
            return lambda: "0"
        if schema.scalar in _TIMES:
            return _null
        if "o" in flags or schema.scalar:
            return None
        zero = _ZEROS.get(schema.type)
        return None if zero is None else lambda: zero

    def _value(self, schema: Schema, go_type: str) -> tuple[type, Decoder | None]:
        """Return the expected JSON type of a value, and its decoder (None if values of this type stay unchanged)."""
        if schema.scalar:
            return self._scalar(schema)
        if schema.type == "object":
            if schema.additional_properties is not None and not schema.properties:
                return dict, self._map(schema, go_type)
            return dict, self._object(schema)
        if schema.type == "array":
            return list, self._list(schema, go_type)
        if schema.type == "integer":
            low, high = _INT32 if schema.validations and schema.validations.format == "int32" else _INT64
            return int, _integer(low, high, go_type)
        return {"string": (str, None), "boolean": (bool, None), "number": (float, _whole)}.get(
            schema.type, (object, None)
        )

    def _scalar(self, schema: Schema) -> tuple[type, Decoder | None]:
        if schema.scalar == "json-schema-or":
            assert schema.items is not None
            return dict, self._object(schema.items)
        if schema.scalar == "raw" and not schema.type:
            return dict, _whole
        return _SCALARS[schema.scalar]

    def _map(self, schema: Schema, go_type: str) -> Decoder:
        child = schema.additional_properties
        assert isinstance(child, Schema)
        inner = go_type.partition("]")[2].lstrip("*") if go_type.startswith("map[") else ""
        expected, decode = self._value(child, inner or _go_name(child))
        other = _other(expected, decode, inner or _go_name(child), child)

        def decode_map(value: Any, lost: Lost) -> Any:
            for key, item in value.items():
                if type(item) is not expected:
                    value[key] = _zero_of(child, decode) if item is None else other(item, lost)
                elif decode is not None:
                    value[key] = decode(item, lost)
            return value

        return decode_map

    def _list(self, schema: Schema, go_type: str) -> Decoder:
        child = schema.items
        assert child is not None
        inner = go_type[2:].lstrip("*") if go_type.startswith("[]") else ""
        expected, decode = self._value(child, inner or _go_name(child))
        other = _other(expected, decode, inner or _go_name(child), child)

        def decode_list(value: Any, lost: Lost) -> Any:
            for index, item in enumerate(value):
                if type(item) is not expected:
                    value[index] = _zero_of(child, decode) if item is None else other(item, lost)
                elif decode is not None:
                    value[index] = decode(item, lost)
            return value

        return decode_list


def _object_decoder(
    struct: str,
    fields: dict[str, tuple[type, bool, Decoder | None, Decoder]],
    texts: set[str],
    absent: list[tuple[str, Callable[[], Any]]],
) -> Decoder:
    """Return a decoder that uses the three tables; they are filled later, so that types may be recursive.

    `texts` has the names of texts that stay unchanged.
    """

    def decode_object(obj: Any, lost: Lost) -> Any:
        drop: list[str] = []
        key = ""
        try:
            for key, value in obj.items():
                if value.__class__ is str and key in texts and value:
                    continue
                field = fields.get(key)
                if field is None:
                    lost.append((obj, key))
                    drop.append(key)
                    continue
                expected, keep_empty, decode, other = field
                if type(value) is not expected:
                    if value is None:
                        drop.append(key)
                        continue
                    obj[key] = value = other(value, lost)
                elif decode is not None:
                    value = decode(value, lost)
                    if value is None:
                        drop.append(key)
                        continue
                    if expected is str or expected is float:
                        obj[key] = value
                if not value and not keep_empty:
                    drop.append(key)
        except DecodeError as error:
            error.under(struct, key)
            raise
        for key in drop:
            del obj[key]
        for key, make in absent:
            if key not in obj:
                obj[key] = make()
        return obj

    return decode_object


def _integer(low: int, high: int, go_type: str) -> Decoder:
    def check(value: Any, lost: Lost) -> Any:
        if low <= value <= high:
            return value
        raise DecodeError(f"number {value}", go_type)

    return check


def _other(expected: type, decode: Decoder | None, go_type: str, schema: Schema) -> Decoder:
    """Return the decoder of values that do not have the expected type."""
    if schema.scalar == "raw" and not schema.type:
        return _whole
    scalar = _OTHER_SCALARS.get(schema.scalar)
    if scalar is not None:
        return scalar
    if schema.scalar == "json-schema-or":
        return _json_schema_or(decode)

    def reject(value: Any, lost: Lost) -> Any:
        if expected is object:
            return value
        if expected is float and type(value) is int:
            return value
        kind = json_number(value) if expected is int else json_kind(value)
        raise DecodeError(kind, go_type, converted=conversion_text(expected, value, go_type))

    return reject


def _json_schema_or(decode: Decoder | None) -> Decoder:
    def decode_alternative(value: Any, lost: Lost) -> Any:
        if type(value) is list and decode is not None:
            return [decode(item, lost) if type(item) is dict else item for item in value]
        return value

    return decode_alternative


def _zero_of(schema: Schema, decode: Decoder | None) -> Any:
    """Return Go's value for a null in a list or map."""
    if schema.scalar:
        return _SCALAR_ZEROS.get(schema.scalar)
    if schema.type == "object":
        return decode({}, []) if decode is not None else {}
    return [] if schema.type == "array" else _ZEROS.get(schema.type)


def _is_struct(schema: Schema) -> bool:
    return schema.type == "object" and not schema.scalar and schema.additional_properties is None


def _go_name(schema: Schema) -> str:
    """Return `v1.Pod` for `io.k8s.api.core.v1.Pod`; for an unnamed type, return the Go type, such as `[]string`."""
    if schema.name:
        return ".".join(schema.name.rsplit(".", 2)[-2:])
    if schema.type == "array" and schema.items is not None:
        return f"[]{_go_name(schema.items)}"
    if isinstance(schema.additional_properties, Schema):
        return f"map[string]{_go_name(schema.additional_properties)}"
    wide = schema.validations is None or schema.validations.format != "int32"
    return {"string": "string", "boolean": "bool", "number": "float64"}.get(schema.type, "int64" if wide else "int32")


def _canonical(convert: Callable[[Any], str]) -> Decoder:
    def decode(value: Any, lost: Lost) -> Any:
        try:
            return convert(value)
        except ValueError as error:
            raise DecodeError("", "", str(error)) from None

    return decode


def _time(convert: Callable[[str], str]) -> Decoder:
    """Return the decoder of times. The first moment of the year 1 is Go's zero, which it writes as null: it is dropped.

    Source: apimachinery pkg/apis/meta/v1/{time,micro_time}.go MarshalJSON (1.36).
    """

    def decode_time(value: Any, lost: Lost) -> Any:
        try:
            text = convert(value)
        except ValueError as error:
            raise DecodeError("", "", str(error)) from None
        return None if text[: len(_ZERO_TIME)] == _ZERO_TIME and not text[len(_ZERO_TIME) :].strip(".0Z") else text

    return decode_time


_ZERO_TIME = "0001-01-01T00:00:00"


def _not_text(value: Any, lost: Lost) -> Any:
    raise DecodeError(json_kind(value), "string")


def _quantity_other(value: Any, lost: Lost) -> Any:
    if type(value) in (int, float):
        return _decode_quantity(value, lost)
    return _decode_quantity("{}", lost)


def _int_or_string(value: Any, lost: Lost) -> Any:
    if type(value) is int and _INT32[0] <= value <= _INT32[1]:
        return value
    raise DecodeError(json_number(value), "int32")


def _bytes(value: Any, lost: Lost) -> Any:
    """Decode base64 like Go: standard alphabet, padded, line breaks skipped. Returns it without line breaks."""
    text = value.replace("\r", "").replace("\n", "") if "\n" in value or "\r" in value else value
    try:
        content = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        error_text = f"illegal base64 data at input byte {bad_byte(text)}"
        raise DecodeError("", "", error_text, converted=f"error decoding from json: {error_text}") from None
    return binascii.b2a_base64(content, newline=False).decode()


def _bytes_other(value: Any, lost: Lost) -> Any:
    """Decode bytes given as a list of numbers."""
    if type(value) is not list:
        raise DecodeError(json_kind(value), "[]uint8", converted=conversion_text(list, value, "[]uint8"))
    for item in value:
        if (type(item) is not int and item is not None) or not 0 <= (item or 0) <= 255:
            raise DecodeError(json_number(item), "uint8")
    return binascii.b2a_base64(bytes(item or 0 for item in value), newline=False).decode()


_ZEROS: dict[str, Any] = {"string": "", "boolean": False, "integer": 0, "number": 0}
_SCALAR_ZEROS = {"quantity": "0", "int-or-string": 0, "bytes": "", "duration": "0s"}
_decode_quantity = _canonical(canonical_quantity)


def _null() -> None:
    """Return the value of a time that is not set. It is a struct in Go, which `omitempty` does not omit."""


def _keep(value: Any, lost: Lost) -> Any:
    return value


def _whole(value: Any, lost: Lost) -> Any:
    """Decode numbers, and JSON that Go decodes and encodes again. The text of a RawExtension stays as it is."""
    return with_whole_numbers(value)


_SCALARS: dict[str, tuple[type, Decoder | None]] = {
    "quantity": (str, _decode_quantity),
    "time": (str, _time(canonical_time)),
    "micro-time": (str, _time(canonical_micro_time)),
    "duration": (str, _canonical(canonical_duration)),
    "bytes": (str, _bytes),
    "int-or-string": (str, None),
    "raw": (dict, None),
    "fields-v1": (dict, None),
}
_OTHER_SCALARS: dict[str, Decoder] = {
    "quantity": _quantity_other,
    "time": _not_text,
    "micro-time": _not_text,
    "duration": _not_text,
    "bytes": _bytes_other,
    "int-or-string": _int_or_string,
    "raw": _keep,
    "fields-v1": _keep,
}
