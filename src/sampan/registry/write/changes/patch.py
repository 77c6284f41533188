"""`Patch`: JSON patch, merge patch, strategic merge patch. Server-side apply is in `application.py`.

Each kind of patch is a mechanism, which turns the stored object, in the endpoint's version, into the desired one.

Source: apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.field import Path, invalid
from sampan.core.go_text import MAP, conversion_text, plain, unmarshal_text
from sampan.core.gvk import GroupKind
from sampan.core.json.values import with_whole_numbers
from sampan.core.object import Object
from sampan.patch import json_patch, merge_patch, strategic_merge
from sampan.patch.media_types import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_name
from sampan.registry.write.changes.body import Body, check_fits, normalise
from sampan.registry.write.changes.bounds import check_json
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.changes.recognition import (
    UnrecognizedObject,
    check_kind,
    invalid_type,
    is_known,
    type_fault,
    unreadable,
)
from sampan.registry.write.write import Change, Write
from sampan.wire import json as wire_json

Mechanism = Callable[[Object], Object]
"""Function that returns the desired object. It may change its argument, a decoded copy of the stored object."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Details of the error for a patch that cannot be applied.

    `faults` are those of strict decoding of the patch. With `shows_patch`, the error shows the patch instead of the
    patched object.
    """

    faults: list[str]
    patch: Any
    shows_patch: bool


class Patch(Change):
    """Stored object, changed by a patch that is not an apply."""

    __slots__ = ("_body", "_bytes", "_mechanism", "_options", "_refusal")
    name: ClassVar[str] = "patch"

    def __init__(self, body: Body, options: WriteOptions) -> None:
        """The media type of the body selects the mechanism."""
        self._body, self._options = body, options
        self._bytes = b""
        self._mechanism: Mechanism
        self._refusal: Refusal

    async def read(self, write: Write) -> None:
        """Read the body, and estimate the work to apply it, so that a large patch runs in another thread."""
        self._bytes = await self._body.read()
        note_size(write.store.strategy.size_of_work(len(self._bytes)))
        if self._body.content_type == JSON_PATCH and b"copy" in self._bytes:
            note_size(json_patch.COPY_BYTES_MAX)  # a short patch can result in a long object

    def decode(self, write: Write) -> None:
        """Decode the patch. A malformed one is refused only if the object exists, as in Kubernetes."""
        assert write.endpoint is not None
        content_type, audit = self._body.content_type, self._body.audit
        try:
            value, faults = _decode_patch(self._bytes, content_type, self._options)
            self._mechanism = _mechanism(write.endpoint, content_type, _converted_numbers(value, content_type))
        except errors.StatusError as error:
            self._mechanism, self._refusal = _failing(error), Refusal([], None, shows_patch=False)
            return
        if audit is not None:
            audit(value, lambda: value)
        self._refusal = Refusal(faults, value, content_type == STRATEGIC_MERGE_PATCH)

    async def make(self, write: Write) -> Object:
        """Patch a copy of the stored object. Raises 400, 422."""
        return await offloaded(self._make, write)

    def _make(self, write: Write) -> Object:
        assert write.endpoint is not None
        patched = self._mechanism(write.endpoint.from_hub(write.copy_of_old()))
        obj = _checked(write, write.endpoint, patched, self._refusal, self._options)
        check_fits(write, obj)
        return obj


def _failing(error: errors.StatusError) -> Mechanism:
    def fail(current: Object) -> Object:
        raise error

    return fail


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


def _mechanism(endpoint: Endpoint, content_type: str, value: Any) -> Mechanism:
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
    schema = endpoint.schema
    return lambda current: strategic_merge.consume(current, value, schema)


def _checked(write: Write, endpoint: Endpoint, patched: Any, refusal: Refusal, options: WriteOptions) -> Object:
    """Check that a patched object is of the endpoint's type. Raises 400 and 422."""
    if not isinstance(patched, dict):
        raise _patch_invalid(patched, refusal, "the patched value is not an object")
    unknown: list[str] | None = None if options.field_validation == "Ignore" else []
    try:
        _settle_type(patched, endpoint, write.name, typed=refusal.shows_patch)
        normalise(patched, endpoint, unknown, converted=refusal.shows_patch)
    except UnrecognizedObject as error:
        raise _patch_invalid(patched, refusal, error.text) from None
    texts = refusal.faults + [f'unknown field "{path}"' for path in unknown or ()]
    if texts and options.strict:
        raise _patch_invalid(patched, refusal, "strict decoding error: " + errors.listed(texts))
    if texts and unknown is not None:
        _warn(write.warnings, texts)
    return patched


def _warn(warnings: list[str], texts: list[str]) -> None:
    warnings.extend(text for text in texts if text not in warnings)


def _patch_invalid(patched: Any, refusal: Refusal, text: str) -> errors.StatusError:
    shown = plain(refusal.patch) if refusal.shows_patch else wire_json.encode(patched).decode()
    return errors.invalid(GroupKind("", ""), "", [invalid(Path("patch"), shown, text)])


def _settle_type(patched: Object, endpoint: Endpoint, name: str, *, typed: bool) -> None:
    """Check that a patched object is of the endpoint's type. With `typed`, the patch was a strategic one.

    A strategic merge patch works on the typed object, not on its JSON, so apiVersion and kind are not fields of it.
    The result of other patches is decoded like a body. Source: apiextensions
    pkg/registry/customresource/validator.go (1.36).
    Raises `Unreadable` (fault of the patch), 400 (no type) and 422 (another kind of custom resource).
    """
    if patched.get("kind") == endpoint.definition.kind and patched.get("apiVersion") == endpoint.api_version:
        return
    if typed:
        _settle_typed(patched, endpoint)
        return
    dialect = endpoint.dialect
    fault = type_fault(patched, wire_json.encode(patched), dialect) or _version_fault(patched)
    if fault:
        raise unreadable(endpoint, fault)
    if dialect.validates_patched_type:
        raise invalid_type(patched, endpoint, name)
    if not patched.get("apiVersion"):
        match_name(name, {})
    if patched.get("kind", "") in ("", endpoint.definition.kind) and is_known(patched["apiVersion"], endpoint):
        patched["apiVersion"] = endpoint.api_version
    check_kind(patched, endpoint)


def _settle_typed(patched: Object, endpoint: Endpoint) -> None:
    for name, text in (("apiVersion", endpoint.api_version), ("kind", endpoint.definition.kind)):
        given = patched.get(name)
        if given is not None and not isinstance(given, str):
            raise unreadable(endpoint, conversion_text(str, given, "string"))
        patched[name] = text


def _version_fault(patched: Object) -> str:
    version = patched.get("apiVersion") or ""
    return f"unexpected GroupVersion string: {version}" if version.count("/") > 1 else ""
