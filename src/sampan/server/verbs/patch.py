"""PATCH: JSON patch, merge patch, strategic merge patch and server-side apply.

Each kind of patch is a mechanism: from the stored object (in the endpoint's version) to the wanted one. The
guaranteed-update loop calls it again after each lost race.
Source: apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sampan.core import errors
from sampan.core.field import Path, invalid
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.core.offload import note_size, offloaded
from sampan.core.time import timestamp
from sampan.patch import json_patch, merge_patch, strategic_merge
from sampan.patch.go_text import json_kind, plain
from sampan.patch.media_types import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_name, match_namespace, metadata_of
from sampan.registry.rest.update import update as rest_update
from sampan.schema.compile import DecodeError as SchemaError
from sampan.server.request import Request, Response
from sampan.server.verbs.admit import admit
from sampan.server.verbs.body import Undecodable, decode_value, normalise, read_limited
from sampan.server.verbs.body_bounds import check_json
from sampan.server.verbs.create import tracked, warn_of_duplicate_owners
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.patched_type import settle_type
from sampan.server.verbs.recognition import Unreadable, unreadable
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope
from sampan.server.verbs.update import part_of, update_options
from sampan.storage.encoding import decode
from sampan.wire import json as wire_json

_NOT_A_MAP: Final = "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"

Mechanism = Callable[[Object], Object]
"""Makes the wanted object of the stored one, which it may change: it is decoded for this."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a patch that cannot be taken is answered with, besides the reason.

    `faults`: what strict decoding of the patch itself found; `shows_patch`: the error shows the patch, and not the
    patched object.
    """

    faults: list[str]
    patch: Any
    shows_patch: bool


async def patch(scope: Scope) -> Response:
    """200, or 201 where an apply created the object."""
    request, endpoint = scope.request, scope.endpoint
    content_type = patch_type_of(scope.request, scope.endpoint)
    options = write_options(request, "PatchOptions", content_type)
    body = await read_limited(request)
    note_size(endpoint.store.strategy.size_of_work(len(body)))
    if content_type == JSON_PATCH and b"copy" in body:
        note_size(json_patch.COPY_BYTES_MAX)  # a short patch can make a long object
    if content_type == APPLY_PATCH:
        value, faults = await offloaded(_decode_apply, body, options)
        await offloaded(_tell_audit, request, value)
        transform = _apply_transform(scope, value, faults, options)
    else:
        transform = await offloaded(_transform, scope, body, content_type, options)
    part, applies = part_of(scope), content_type == APPLY_PATCH
    result = await rest_update(
        endpoint.store,
        scope.ctx,
        request.info.name,
        transform,
        update_options(
            scope,
            options,
            part,
            force_create=applies,
            is_apply=applies,
        ),
    )
    request.step("Object stored in database")
    return await object_response(request, endpoint, result.value, 201 if result.created else 200)


def _transform(scope: Scope, body: bytes, content_type: str, options: WriteOptions) -> Any:
    """What a patch does; one that cannot be read fails only where there is an object, as in Kubernetes."""
    try:
        value, faults = _decode_patch(body, content_type, options)
        mechanism = _mechanism(scope, content_type, value)
    except errors.StatusError as error:
        return _patch_transform(scope, _failing(error), Refusal([], None, shows_patch=False), options)
    _tell_audit(scope.request, value)
    refusal = Refusal(faults, value, content_type == STRATEGIC_MERGE_PATCH)
    return _patch_transform(scope, mechanism, refusal, options)


def _failing(error: errors.StatusError) -> Mechanism:
    def fail(current: Object) -> Object:
        raise error

    return fail


def _tell_audit(request: Request, value: Any) -> None:
    if request.body_read is not None:
        request.body_read(value, lambda: value)


def patch_type_of(request: Request, endpoint: Endpoint) -> str:
    """Return the media type of a patch. Raises 415."""
    content_type = request.headers.get("content-type", "").split(";", 1)[0].strip()
    dialect = endpoint.dialect
    if content_type not in dialect.patch_types:
        raise dialect.unsupported_patch(dialect.patch_types)
    return content_type


def _decode_patch(body: bytes, content_type: str, options: WriteOptions) -> tuple[Any, list[str]]:
    check_json(body)
    try:
        if options.field_validation == "Ignore":
            return wire_json.decode(body), []
        value, faults = wire_json.decode_strict(body)
    except wire_json.DecodeError as error:
        prefix = "" if content_type == STRATEGIC_MERGE_PATCH else "error decoding patch: "
        raise errors.bad_request(f"{prefix}{error}") from None
    if content_type == JSON_PATCH:
        json_patch.check(value)
        return value, [*(f"json patch {fault}" for fault in faults), *json_patch.strict_errors(value or [])]
    return value, faults


def _decode_apply(body: bytes, options: WriteOptions) -> tuple[Any, list[str]]:
    media = "application/json" if body[:1] == b"{" else "application/yaml"
    try:
        try:
            return decode_value(body, media, duplicates=options.field_validation != "Ignore")
        except Undecodable:
            if media == "application/yaml":
                raise
            return decode_value(body, "application/yaml", duplicates=options.field_validation != "Ignore")
    except Undecodable as error:
        raise errors.bad_request(f"error decoding YAML: error converting YAML to JSON: {error.message}") from None


def _mechanism(scope: Scope, content_type: str, value: Any) -> Mechanism:
    if content_type == JSON_PATCH:
        return lambda current: json_patch.apply(current, value)
    if value is None:
        if content_type == MERGE_PATCH:
            raise errors.bad_request("Invalid JSON Patch")
        value = {}
    if not isinstance(value, dict):
        prefix = "error decoding patch: " if content_type == MERGE_PATCH else ""
        raise errors.bad_request(f"{prefix}{_NOT_A_MAP.format(json_kind(value))}")
    if content_type == MERGE_PATCH:
        return lambda current: merge_patch.consume(current, value)
    schema = scope.endpoint.schema
    return lambda current: strategic_merge.consume(current, value, schema)


def _patch_transform(scope: Scope, mechanism: Mechanism, refusal: Refusal, options: WriteOptions) -> Any:
    endpoint, request = scope.endpoint, scope.request
    store, name = endpoint.store, request.info.name

    async def transform(old: Object | None, stored: bytes) -> Object:
        if old is None:
            raise store.not_found(name)
        patched = await offloaded(lambda: _checked(scope, mechanism(_live(endpoint, stored)), refusal, options))
        hub = await offloaded(_finished, scope, patched)
        await tracked(scope, old, hub, options)
        return await admit(scope, "UPDATE", hub, old, options.dry_run)

    return transform


def _live(endpoint: Endpoint, stored: bytes) -> Object:
    return endpoint.from_hub(endpoint.store.decode(stored))


def _checked(scope: Scope, patched: Any, refusal: Refusal, options: WriteOptions) -> Object:
    """A patched object must be one of this type. Raises 400 and 422."""
    if not isinstance(patched, dict):
        raise _patch_invalid(patched, refusal, "the patched value is not an object")
    unknown: list[str] | None = None if options.field_validation == "Ignore" else []
    try:
        settle_type(patched, scope.endpoint, scope.request.info.name, typed=refusal.shows_patch)
        normalise(patched, scope.endpoint, unknown, converted=refusal.shows_patch)
    except Unreadable as error:
        raise _patch_invalid(patched, refusal, error.text) from None
    texts = refusal.faults + [f'unknown field "{path}"' for path in unknown or ()]
    if texts and options.strict:
        raise _patch_invalid(patched, refusal, "strict decoding error: " + errors.listed(texts))
    if texts and unknown is not None:
        _warn(scope, texts)
    return patched


def _warn(scope: Scope, texts: list[str]) -> None:
    known = scope.request.warnings
    known.extend(text for text in texts if text not in known)


def _patch_invalid(patched: Any, refusal: Refusal, text: str) -> errors.StatusError:
    shown = plain(refusal.patch) if refusal.shows_patch else wire_json.encode(patched).decode()
    return errors.invalid(GroupKind("", ""), "", [invalid(Path("patch"), shown, text)])


def _finished(scope: Scope, obj: Object) -> Object:
    """Names fit, owner references are unique; in the hub version, defaulted."""
    endpoint = scope.endpoint
    metadata = metadata_of(obj)
    match_namespace(endpoint.definition, scope.ctx.namespace, metadata)
    match_name(scope.request.info.name, metadata)
    warn_of_duplicate_owners(scope.request, metadata)
    hub = endpoint.to_hub(obj)
    endpoint.store.strategy.default(hub)
    return hub


def _normalise_merged(merged: Object, endpoint: Endpoint) -> None:
    try:
        endpoint.dialect.read_applied(endpoint.compiled, merged)
    except SchemaError as error:
        raise unreadable(endpoint, str(error)) from None
    merged.setdefault("metadata", {})


def _apply_transform(scope: Scope, config: Any, faults: list[str], options: WriteOptions) -> Any:
    endpoint, request = scope.endpoint, scope.request
    if config is None:
        raise errors.bad_request("invalid object type: /, Kind=")
    if not isinstance(config, dict):
        text = _NOT_A_MAP.format(json_kind(config))
        raise errors.bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
    if faults and options.strict:
        raise errors.bad_request("error strict decoding YAML: " + errors.listed(faults))
    request.warnings.extend(faults)
    manager = endpoint.field_manager(request.info.subresource)

    async def transform(old: Object | None, stored: bytes) -> Object:
        live = await offloaded(_live, endpoint, stored) if old is not None else None
        merged = await endpoint.managing_fields(
            lambda: manager.apply(
                live,
                decode(wire_json.encode(config)),
                manager=options.field_manager,
                api_version=endpoint.api_version,
                subresource=request.info.subresource,
                force=bool(options.force),
                now=timestamp(scope.clock),
            )
        )
        if old is None and merged.get("metadata", {}).get("uid"):
            raise errors.conflict(
                endpoint.definition.group_resource,
                request.info.name,
                f"uid mismatch: the provided object specified uid {merged['metadata']['uid']}, "
                "and no existing object was found",
            )
        await offloaded(_normalise_merged, merged, endpoint)
        hub = await offloaded(_finished, scope, merged)
        return await admit(scope, "UPDATE" if old is not None else "CREATE", hub, old, options.dry_run)

    return transform
