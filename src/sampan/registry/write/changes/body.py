"""`Body`: the body of a request for a change, and its decoding into an object of the endpoint's version.

Source: apiserver pkg/endpoints/handlers/{create,update,rest}.go (1.36).
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from sampan.core import errors
from sampan.core.go_text import is_number_too_large
from sampan.core.numbers.quantity import refusing_escaped
from sampan.core.object import Object
from sampan.core.validation.metadata import dedup_owner_references
from sampan.patch.copying import copy_json
from sampan.registry.dialect import BUILTIN, Dialect
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_name, match_namespace, metadata_of
from sampan.registry.write.changes.bounds import check_json, check_value
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.changes.recognition import NO_TYPE, check_kind, type_fault, unreadable, unrecognized
from sampan.registry.write.write import Write
from sampan.schema.compile import DecodeError as SchemaError
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.escaped_numbers import escaped_numbers
from sampan.wire.negotiation import OFFERED, body_format

Audit = Callable[[Any, Callable[[], Any]], None]
"""Records a decoded body before it is changed. The second argument returns the form that events contain."""

_CODECS: dict[str, Any] = {"json": wire_json, "yaml": wire_yaml, "protobuf": wire_protobuf}


class Body(msgspec.Struct, eq=False):
    """Body of a request, which a change reads once."""

    read: Callable[[], Awaitable[bytes]]
    """Reads the bytes. Raises 413."""
    content_type: str
    audit: Audit | None = None
    converted: Callable[[], None] | None = None
    """Called when the object of the body has the type of the endpoint, for logs of slow requests."""


class UndecodableBody(errors.StatusError):
    """Error 400 for a body that is not JSON, YAML or protobuf. `text` is the message for objects to be stored."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(errors.Reason.BAD_REQUEST, 400, message)
        self.text = text


class UnknownObject(msgspec.Struct, eq=False):
    """Object of a body of which kind and version can be read."""

    obj: Object
    faults: list[str]
    """Texts for duplicate fields."""
    escaped: frozenset[str]
    """Amounts that the body has with escapes, which Kubernetes refuses."""


def undecoded(body: bytes, content_type: str, endpoint: Endpoint, options: WriteOptions) -> UnknownObject:
    """Decode a body as far as needed to read its kind and version. Raises 400, 415."""
    escaped = escaped_numbers(body) if b"\\u" in body and endpoint.dialect is BUILTIN else frozenset()
    duplicates, dialect = options.field_validation != "Ignore", endpoint.dialect
    obj, faults = typed(body, content_type, endpoint.definition.kind, dialect, duplicates=duplicates)
    return UnknownObject(obj, faults, escaped)


def typed(body: bytes, content_type: str, kind: str, dialect: Dialect, *, duplicates: bool) -> tuple[Object, list[str]]:
    """Return the object of a body whose type can be read, and texts for duplicate fields. Raises 400, 415."""
    try:
        value, faults = decode_value(body, content_type, dialect.media_types, duplicates=duplicates)
    except UndecodableBody as error:
        raise unrecognized(kind, error.text, body) from None
    text = type_fault(value, body, dialect)
    if text:
        raise unrecognized(kind, text, body)
    return {} if value is None else value, faults


def decode_value(
    body: bytes, content_type: str, media_types: tuple[str, ...] = OFFERED, *, duplicates: bool
) -> tuple[Any, list[str]]:
    """Decode a body in one of `media_types`, without their parameters. Raises `UndecodableBody` (400), 413, 415."""
    format_ = body_format(content_type, media_types)
    codec = _CODECS[format_]
    try:
        if format_ == "json":
            check_json(body)
        faults: list[str] = []
        if duplicates and format_ != "protobuf":
            value, faults = codec.decode_strict(body)
        else:
            value = codec.decode(body)
        if format_ != "json":
            check_value(value, body)
        return value, faults
    except wire_json.DecodeError as error:
        # The type is read before all numbers are.
        has_type = format_ != "json" or is_number_too_large(str(error))
        raise UndecodableBody(str(error) if has_type else f"{NO_TYPE}{error}", str(error)) from None


def decode_object(
    given: UnknownObject, endpoint: Endpoint, options: WriteOptions, warnings: list[str], audit: Audit | None
) -> Object:
    """Check kind, version and types of a body's object for the endpoint, and prune the object.

    Unknown and duplicate fields become warnings, or a 400 with fieldValidation=Strict.
    """
    obj = given.obj
    check_kind(obj, endpoint)
    unknown: list[str] | None = None if options.field_validation == "Ignore" else []
    if given.escaped:
        with refusing_escaped(given.escaped):
            normalise(obj, endpoint, unknown)
    else:
        normalise(obj, endpoint, unknown)
    if unknown is not None:
        _report(endpoint.dialect.strict_faults(given.faults, unknown), endpoint, options, warnings)
    if audit is not None:
        audit(obj, lambda: _with_defaults(obj, endpoint))
    return obj


def _with_defaults(obj: Object, endpoint: Endpoint) -> Object:
    """Return a copy with the defaults of the strategy too, as Go writes it."""
    hub = endpoint.to_hub(copy_json(obj))
    endpoint.store.strategy.default(hub)
    return endpoint.dialect.as_encoded(endpoint.schema, endpoint.from_hub(hub))


def normalise(obj: Object, endpoint: Endpoint, unknown: list[str] | None, *, converted: bool = False) -> None:
    """Prune and canonicalize. For built-in types, also check types and set the schema's defaults. Raises 400.

    With `converted`, faults have the text for objects that were not decoded from JSON.
    """
    untracked = _clears_managed_fields(obj)
    try:
        endpoint.dialect.read(endpoint.compiled, obj, unknown)
    except SchemaError as error:
        raise unreadable(endpoint, error.converted if converted else str(error)) from None
    metadata = obj.setdefault("metadata", {})
    if untracked:
        metadata["managedFields"] = []


def _clears_managed_fields(obj: Object) -> bool:
    """Return True if the list of managed fields is empty, which requests to clear them, unlike an absent list."""
    metadata = obj.get("metadata")
    return isinstance(metadata, dict) and metadata.get("managedFields") == []


_YAML_ERRORS: Final = "yaml: unmarshal errors:\n"


def warning_texts(faults: list[str]) -> list[str]:
    """Return the warnings for faults of strict decoding: those of YAML are one text, with a line for each fault.

    Source: apiserver pkg/endpoints/handlers/rest.go parseYAMLWarnings (1.36).
    """
    return [
        line.strip() if fault.startswith(_YAML_ERRORS) else line
        for fault in faults
        for line in (fault.removeprefix(_YAML_ERRORS).split("\n") if fault.startswith(_YAML_ERRORS) else [fault])
    ]


def _report(texts: list[str], endpoint: Endpoint, options: WriteOptions, warnings: list[str]) -> None:
    """Add warnings, or with Strict raise 400."""
    if texts and options.strict:
        raise unreadable(endpoint, "strict decoding error: " + errors.listed(texts))
    if texts:
        warnings.extend(warning_texts(texts))


def check_fits(write: Write, obj: Object) -> None:
    """Check that name and namespace match the path, and remove duplicate owners. Raises 400."""
    metadata = metadata_of(obj)
    match_namespace(write.store.definition, write.ctx.namespace, metadata)
    match_name(write.name, metadata)
    if metadata.get("ownerReferences"):
        warn_of_duplicate_owners(metadata, write.warnings)


def warn_of_duplicate_owners(metadata: dict[str, Any], warnings: list[str]) -> None:
    """Remove owner references that occur twice, with one warning."""
    text = dedup_owner_references(metadata)
    if text and text not in warnings:
        warnings.append(text)
