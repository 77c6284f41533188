"""Decoding of a request body into an object of the endpoint's version, with the faults of strict decoding.

Source: apiserver pkg/endpoints/handlers/{create,update,rest}.go (1.36).
"""

from collections.abc import Callable, Collection
from typing import Any, Final

from sampan.core import errors
from sampan.core.go_text import is_number_too_large
from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.core.offload import note_size, offloaded
from sampan.core.quantity import refusing_escaped
from sampan.patch.copying import copy_json
from sampan.registry.dialect import BUILTIN, Dialect
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_namespace, metadata_of
from sampan.schema.compile import DecodeError as SchemaError
from sampan.schema.go_nulls import with_nulls
from sampan.server.request import Request
from sampan.server.verbs.body_bounds import check_json, check_value
from sampan.server.verbs.options import WriteOptions
from sampan.server.verbs.recognition import NO_TYPE, check_kind, check_other_kind, type_fault, unreadable, unrecognized
from sampan.server.verbs.scope import Scope
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.escaped_numbers import escaped_numbers
from sampan.wire.negotiation import OFFERED, body_format

BODY_SIZE_BYTES_MAX = 3 * 1024 * 1024
Default = Callable[[Object], None]
"""Function that sets defaults in an object."""

_CODECS: dict[str, Any] = {"json": wire_json, "yaml": wire_yaml, "protobuf": wire_protobuf}


class Undecodable(errors.StatusError):
    """Error 400 for a body that is not JSON, YAML or protobuf. `text` is the message for objects to be stored."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(errors.Reason.BAD_REQUEST, 400, message)
        self.text = text


async def read_value(request: Request, *, duplicates: bool) -> tuple[Any, list[str]]:
    """Return the decoded body of a built-in type and, if requested, texts for duplicate fields.

    Raises 400, 413, 415.
    """
    body = await read_limited(request)
    value, faults = await offloaded(_decoded, body, request.headers.get("content-type", ""), duplicates)
    if request.body_read is not None:
        await offloaded(request.body_read, value, lambda: value)
    return value, faults


async def read_limited(request: Request) -> bytes:
    """Return the body as it was sent, and record its size. Raises 413."""
    body = await request.wire.read_body(BODY_SIZE_BYTES_MAX)
    request.body_size_bytes = len(body)
    note_size(len(body))
    request.step("limitedReadBody succeeded")
    return body


def record_for_audit(request: Request, value: Any) -> None:
    """Record a decoded patch for audit."""
    if request.body_read is not None:
        request.body_read(value, lambda: value)


async def read_undecoded(request: Request, endpoint: Endpoint, *, duplicates: bool) -> tuple[Object, list[str]]:
    """Return a body for `decode_object`: an object whose type and version can be read.

    Only built-in types have a protobuf form. Raises 400, 413, 415.
    """
    body = await read_limited(request)
    note_size(endpoint.store.strategy.size_of_work(len(body)))
    return await offloaded(undecoded, body, request, endpoint, duplicates)


def undecoded(body: bytes, request: Request, endpoint: Endpoint, duplicates: bool) -> tuple[Object, list[str]]:
    """Return the object of a body of which kind and version can be read, and texts for duplicate fields.

    Raises 400, 415.
    """
    content_type = request.headers.get("content-type", "")
    if b"\\u" in body and endpoint.dialect is BUILTIN:
        request.escaped_texts = escaped_numbers(body)
    return _typed(body, content_type, endpoint.definition.kind, duplicates, endpoint.dialect)


def _unchanged(obj: Object) -> None:
    """Set no defaults."""


async def read_kind(
    scope: Scope, desired: GroupVersionKind, *, duplicates: bool = False, default: Default = _unchanged
) -> tuple[Object, list[str]]:
    """Return the body of a subresource with a different built-in type, not yet decoded. It may omit its type.

    `default` sets defaults that are not in the schema, for audit. Raises 400, 413, 415.
    """
    request, endpoint = scope.request, scope.endpoint
    value, faults = await _read_typed(request, desired.kind, BUILTIN, duplicates=duplicates)
    value = {
        **value,
        "kind": value.get("kind") or desired.kind,
        "apiVersion": value.get("apiVersion") or desired.api_version,
    }
    check_other_kind(value, desired, endpoint)
    if request.body_read is not None:
        await offloaded(request.body_read, value, lambda: _encoded(scope, desired, value, default))
    return value, faults


async def decoded_kind(
    scope: Scope,
    desired: GroupVersionKind,
    options: WriteOptions,
    *,
    versions: Collection[str] = (),
    default: Default = _unchanged,
) -> Object:
    """Read a body as `read_kind` does, and decode it as `desired`. `versions` lists equivalent apiVersions.

    Unknown and duplicate fields become warnings, or a 400 with fieldValidation=Strict. Raises 400, 413, 415.
    """
    shown = desired.api_version
    value, texts = await read_kind(scope, desired, duplicates=options.field_validation != "Ignore", default=default)
    given = value["apiVersion"]
    if given != shown and given not in versions:
        text = f"the API version in the data ({given}) does not match the expected API version ({shown})"
        raise errors.bad_request(text)
    unknown: list[str] = []
    obj = await offloaded(decoded_as, scope, desired, value, unknown)
    texts += [f'unknown field "{path}"' for path in unknown]
    if texts and options.strict:
        raise errors.bad_request(f"{_unhandled(desired)}strict decoding error: {errors.listed(texts)}")
    if options.field_validation == "Warn" and texts:
        scope.request.warnings.extend(warning_texts(texts))
    await offloaded(default, obj)
    return obj


def decoded_as(scope: Scope, desired: GroupVersionKind, value: Object, unknown: list[str] | None = None) -> Object:
    """Return `value`, the new object for the request's path, decoded as the built-in type `desired`.

    The paths of unknown fields are added to `unknown`. Raises 400, also if it names another namespace than the path.
    """
    obj: Object = {**value, "kind": desired.kind, "apiVersion": desired.api_version}
    schema = scope.cluster.schemas.schema_for_kind(desired)
    assert schema is not None
    try:
        scope.cluster.compiler.compile(schema).decode(obj, unknown=unknown)
    except SchemaError as error:
        raise errors.bad_request(f"{_unhandled(desired)}{error}") from None
    match_namespace(scope.endpoint.definition, scope.ctx.namespace, metadata_of(obj))
    return obj


def _unhandled(gvk: GroupVersionKind) -> str:
    return f'{gvk.kind} in version "{gvk.version}" cannot be handled as a {gvk.kind}: '


def _encoded(scope: Scope, gvk: GroupVersionKind, value: Object, default: Default) -> Object:
    """Return an object as Go writes it after decoding."""
    schema = scope.cluster.schemas.schema_for_kind(gvk)
    obj = copy_json(value)
    if schema is None:
        return value
    try:
        scope.cluster.compiler.compile(schema).decode(obj)
    except SchemaError:
        return value
    default(obj)
    return with_nulls(schema, obj)


async def _read_typed(request: Request, kind: str, dialect: Dialect, *, duplicates: bool) -> tuple[Object, list[str]]:
    body = await read_limited(request)
    content_type = request.headers.get("content-type", "")
    return await offloaded(_typed, body, content_type, kind, duplicates, dialect)


def _typed(body: bytes, content_type: str, kind: str, duplicates: bool, dialect: Dialect) -> tuple[Object, list[str]]:
    """Decode a body as far as needed to read its type. Raises 400, 415."""
    try:
        value, faults = decode_value(body, content_type, dialect.media_types, duplicates=duplicates)
    except Undecodable as error:
        raise unrecognized(kind, error.text, body) from None
    text = type_fault(value, body, dialect)
    if text:
        raise unrecognized(kind, text, body)
    return {} if value is None else value, faults


def decode_value(
    body: bytes, content_type: str, media_types: tuple[str, ...] = OFFERED, *, duplicates: bool
) -> tuple[Any, list[str]]:
    """Decode a body in one of `media_types`, without their parameters. Raises `Undecodable` (400), 413, 415."""
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
        raise Undecodable(str(error) if has_type else f"{NO_TYPE}{error}", str(error)) from None


def _decoded(body: bytes, content_type: str, duplicates: bool) -> tuple[Any, list[str]]:
    return decode_value(body, content_type, duplicates=duplicates)


def decode_object(
    obj: Object, endpoint: Endpoint, options: WriteOptions, faults: list[str], request: Request
) -> Object:
    """Check kind, version and types of a decoded body for the endpoint, and prune it.

    Unknown and duplicate fields become warnings, or a 400 with fieldValidation=Strict.
    """
    check_kind(obj, endpoint)
    unknown: list[str] | None = None if options.field_validation == "Ignore" else []
    if request.escaped_texts:
        with refusing_escaped(request.escaped_texts):
            normalise(obj, endpoint, unknown)
    else:
        normalise(obj, endpoint, unknown)
    if unknown is not None:
        _report(endpoint.dialect.strict_faults(faults, unknown), endpoint, options, request)
    if request.body_read is not None:
        request.body_read(obj, lambda: _with_defaults(obj, endpoint))
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


def _report(texts: list[str], endpoint: Endpoint, options: WriteOptions, request: Request) -> None:
    """Add warnings, or with Strict raise 400."""
    if texts and options.strict:
        raise unreadable(endpoint, "strict decoding error: " + errors.listed(texts))
    if texts:
        request.warnings.extend(warning_texts(texts))
