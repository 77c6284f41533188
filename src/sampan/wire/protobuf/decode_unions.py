"""Decode the types of CustomResourceDefinitions that have two forms in JSON: a schema or a shorter value.

Source: apiextensions-apiserver pkg/apis/apiextensions/v1/marshal.go (1.36).
"""

from collections.abc import Callable
from typing import Any, Final

from sampan.wire.protobuf.decode_budget import DecodeBudget
from sampan.wire.protobuf.decode_values import Reader
from sampan.wire.protobuf.varint import BYTES, VARINT, scan, tag_of

Decode = Callable[[str, bytes, int, int, DecodeBudget], dict[str, Any]]
"""Function that decodes a message, given its name, the body, start and stop."""

_KEY: Final = tag_of(1, BYTES)
_VALUE: Final = tag_of(2, BYTES)


def union_readers(decode: Decode) -> dict[str, Reader]:
    """Return the readers by type; `decode` decodes the nested schemas."""
    found: dict[str, Reader] = {}
    for package in ("apiextensions.v1", "apiextensions.v1beta1"):
        schema = f"{package}.JSONSchemaProps"
        found[f"{schema}OrArray"] = _schema_or_array(decode, schema)
        found[f"{schema}OrBool"] = _schema_or_bool(decode, schema)
        found[f"{schema}OrStringArray"] = _schema_or_texts(decode, schema)
    return found


def _schema_or_array(decode: Decode, message: str) -> Reader:
    """Read JSONSchemaPropsOrArray: a schema or a list of schemas."""

    def read(body: bytes, start: int, stop: int, budget: DecodeBudget) -> Any:
        schema, many = None, []
        for tag, first, last in scan(body, start, stop):
            if tag == _KEY:
                schema = decode(message, body, first, last, budget)
            elif tag == _VALUE:
                many.append(decode(message, body, first, last, budget))
        return many or schema

    return read


def _schema_or_bool(decode: Decode, message: str) -> Reader:
    """Read JSONSchemaPropsOrBool: a schema, or whether any value is allowed."""

    def read(body: bytes, start: int, stop: int, budget: DecodeBudget) -> Any:
        schema, allows = None, False
        for tag, first, last in scan(body, start, stop):
            if tag == tag_of(1, VARINT):
                allows = bool(first)
            elif tag == _VALUE:
                schema = decode(message, body, first, last, budget)
        return allows if schema is None else schema

    return read


def _schema_or_texts(decode: Decode, message: str) -> Reader:
    """Read JSONSchemaPropsOrStringArray: a schema or a list of property names."""

    def read(body: bytes, start: int, stop: int, budget: DecodeBudget) -> Any:
        schema, names = None, []
        for tag, first, last in scan(body, start, stop):
            if tag == _KEY:
                schema = decode(message, body, first, last, budget)
            elif tag == _VALUE:
                names.append(body[first:last].decode())
        return names or schema

    return read
