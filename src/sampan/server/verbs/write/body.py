"""Bodies of requests: those of writes are decoded by `registry/write/changes`, those of subresources here.

Source: apiserver pkg/endpoints/handlers/{create,update,rest}.go (1.36).
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.registry.dialect import BUILTIN, Dialect
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_namespace, metadata_of
from sampan.registry.write.changes.body import Body, decode_object, decode_value, typed, undecoded, warning_texts
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.changes.recognition import check_other_kind
from sampan.schema.compile import DecodeError as SchemaError
from sampan.schema.decoding.go_nulls import with_nulls
from sampan.server.request import Request
from sampan.server.verbs.scope import RequestScope

BODY_SIZE_BYTES_MAX = 3 * 1024 * 1024
Default = Callable[[Object], None]
"""Function that sets defaults in an object."""


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


def body_of(request: Request, content_type: str = "") -> Body:
    """Return the body of a write. Without `content_type`, its media type is that of the header."""
    return Body(
        read=partial(read_limited, request),
        content_type=content_type or request.headers.get("content-type", ""),
        audit=request.body_read,
        converted=partial(request.step, "Conversion done"),
    )


async def decoded_body(scope: RequestScope, options: WriteOptions) -> Object:
    """Return the body as an object of the endpoint's version that is not stored, such as a review.

    Unknown and duplicate fields become warnings, or a 400 with fieldValidation=Strict. Raises 400, 413, 415.
    """
    request, endpoint = scope.request, scope.endpoint
    body = await read_limited(request)
    note_size(endpoint.store.strategy.size_of_work(len(body)))
    return await offloaded(_decoded_body, body, request, endpoint, options)


def _decoded_body(body: bytes, request: Request, endpoint: Endpoint, options: WriteOptions) -> Object:
    given = undecoded(body, request.headers.get("content-type", ""), endpoint, options)
    return decode_object(given, endpoint, options, request.warnings, request.body_read)


def _unchanged(obj: Object) -> None:
    """Set no defaults."""


async def read_kind(
    scope: RequestScope, desired: GroupVersionKind, *, duplicates: bool = False, default: Default = _unchanged
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
    scope: RequestScope,
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


def decoded_as(
    scope: RequestScope, desired: GroupVersionKind, value: Object, unknown: list[str] | None = None
) -> Object:
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


def _encoded(scope: RequestScope, gvk: GroupVersionKind, value: Object, default: Default) -> Object:
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
    return await offloaded(partial(typed, body, content_type, kind, dialect, duplicates=duplicates))


def _decoded(body: bytes, content_type: str, duplicates: bool) -> tuple[Any, list[str]]:
    return decode_value(body, content_type, duplicates=duplicates)
