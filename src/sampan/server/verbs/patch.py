"""PATCH: JSON patch, merge patch, strategic merge patch. Server-side apply is in `apply.py`.

Each kind of patch is a mechanism, which turns the stored object, in the endpoint's version, into the wanted one.

Source: apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sampan.core import errors
from sampan.core.field import Path, invalid
from sampan.core.go_text import MAP, plain, unmarshal_text
from sampan.core.gvk import GroupKind
from sampan.core.json_values import with_whole_numbers
from sampan.core.object import Object
from sampan.core.offload import note_size, offloaded
from sampan.patch import json_patch, merge_patch, strategic_merge
from sampan.patch.media_types import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from sampan.registry.endpoint import Endpoint
from sampan.registry.write.runner import run
from sampan.registry.write.write import Change, Kind, Write
from sampan.server.request import Request, Response
from sampan.server.verbs.apply import Application
from sampan.server.verbs.body import normalise, read_limited, record_for_audit
from sampan.server.verbs.body_bounds import check_json
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.patched_type import settle_type
from sampan.server.verbs.recognition import UnrecognizedObject
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope
from sampan.server.verbs.update import check_fits
from sampan.server.verbs.write import write_of
from sampan.wire import json as wire_json

Mechanism = Callable[[Object], Object]
"""Function that returns the wanted object. It may change its argument, a decoded copy of the stored object."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Details of the error for a patch that cannot be applied.

    `faults` are those of strict decoding of the patch. With `shows_patch`, the error shows the patch instead of the
    patched object.
    """

    faults: list[str]
    patch: Any
    shows_patch: bool


async def patch(scope: Scope) -> Response:
    """Return 200, or 201 if an apply created the object."""
    request = scope.request
    content_type = patch_type_of(request, scope.endpoint)
    options = write_options(request, "PatchOptions", content_type)
    if content_type == APPLY_PATCH:
        write = write_of(scope, Kind.APPLY, Application(scope, options), options)
    else:
        write = write_of(scope, Kind.UPDATE, Patch(scope, options, content_type), options)
    await run(write)
    request.step("Object stored in database")
    return await object_response(request, scope.endpoint, write.result, 201 if write.created else 200)


class Patch(Change):
    """Stored object, changed by a patch that is not an apply."""

    __slots__ = ("_body", "_content_type", "_mechanism", "_options", "_refusal", "_scope")
    name: ClassVar[str] = "patch"

    def __init__(self, scope: Scope, options: WriteOptions, content_type: str) -> None:
        self._scope, self._options, self._content_type = scope, options, content_type
        self._body = b""
        self._mechanism: Mechanism
        self._refusal: Refusal

    async def read(self, write: Write) -> None:
        """Read the patch."""
        self._body = body = await read_limited(self._scope.request)
        note_size(write.store.strategy.size_of_work(len(body)))
        if self._content_type == JSON_PATCH and b"copy" in body:
            note_size(json_patch.COPY_BYTES_MAX)  # a short patch can result in a long object

    def decode(self, write: Write) -> None:
        """Decode the patch. A malformed one is refused only if the object exists, as in Kubernetes."""
        scope, content_type = self._scope, self._content_type
        try:
            value, faults = _decode_patch(self._body, content_type, self._options)
            self._mechanism = _mechanism(scope, content_type, _converted_numbers(value, content_type))
        except errors.StatusError as error:
            self._mechanism, self._refusal = _failing(error), Refusal([], None, shows_patch=False)
            return
        record_for_audit(scope.request, value)
        self._refusal = Refusal(faults, value, content_type == STRATEGIC_MERGE_PATCH)

    async def make(self, write: Write) -> Object:
        """Patch a copy of the stored object. Raises 400, 422."""
        return await offloaded(self._make, write)

    def _make(self, write: Write) -> Object:
        scope = self._scope
        patched = self._mechanism(scope.endpoint.from_hub(write.copy_of_old()))
        obj = _checked(scope, patched, self._refusal, self._options)
        check_fits(scope, obj)
        return obj


def _failing(error: errors.StatusError) -> Mechanism:
    def fail(current: Object) -> Object:
        raise error

    return fail


def patch_type_of(request: Request, endpoint: Endpoint) -> str:
    """Return the media type of a patch. Raises 415."""
    content_type = request.headers.get("content-type", "").split(";", 1)[0].strip()
    dialect = endpoint.dialect
    if content_type not in dialect.patch_types:
        raise dialect.unsupported_patch(dialect.patch_types)
    return content_type


def _decode_patch(body: bytes, content_type: str, options: WriteOptions) -> tuple[Any, list[str]]:
    try:
        check_json(body)
        if options.field_validation == "Ignore":
            return wire_json.decode(body), []
        value, faults = wire_json.decode_strict(body)
    except wire_json.DecodeError as error:
        prefix = "" if content_type == STRATEGIC_MERGE_PATCH else "error decoding patch: "
        raise errors.bad_request(f"{prefix}{error}") from None
    if content_type == JSON_PATCH:
        json_patch.check(value)
        return value, json_patch.strict_errors(value or [], faults)
    return value, faults


def _converted_numbers(value: Any, content_type: str) -> Any:
    """Return the patch with the integers that Go's converter of unstructured objects makes of whole floats.

    It decodes strategic merge patches alone: the results of other patches are encoded, then decoded by type. Source:
    apimachinery pkg/runtime/converter.go (1.36).
    """
    return with_whole_numbers(value) if content_type == STRATEGIC_MERGE_PATCH else value


def _mechanism(scope: Scope, content_type: str, value: Any) -> Mechanism:
    if content_type == JSON_PATCH:
        return lambda current: json_patch.apply(current, value)
    if value is None:
        if content_type == MERGE_PATCH:
            raise errors.bad_request("Invalid JSON Patch")
        value = {}
    if not isinstance(value, dict):
        prefix = "error decoding patch: " if content_type == MERGE_PATCH else ""
        raise errors.bad_request(f"{prefix}{unmarshal_text(value, MAP)}")
    if content_type == MERGE_PATCH:
        return lambda current: merge_patch.consume(current, value)
    schema = scope.endpoint.schema
    return lambda current: strategic_merge.consume(current, value, schema)


def _checked(scope: Scope, patched: Any, refusal: Refusal, options: WriteOptions) -> Object:
    """Check that a patched object is of the endpoint's type. Raises 400 and 422."""
    if not isinstance(patched, dict):
        raise _patch_invalid(patched, refusal, "the patched value is not an object")
    unknown: list[str] | None = None if options.field_validation == "Ignore" else []
    try:
        settle_type(patched, scope.endpoint, scope.request.info.name, typed=refusal.shows_patch)
        normalise(patched, scope.endpoint, unknown, converted=refusal.shows_patch)
    except UnrecognizedObject as error:
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
