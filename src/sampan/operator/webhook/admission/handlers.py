"""Typed handlers: functions of an operator that complete and check objects, and their adapters to `Handler`.

Source: controller-runtime pkg/webhook/admission/{defaulter_custom,validator_custom,multi}.go (0.24). Differences: each
of several handlers receives the object with the changes of earlier handlers, and fields that a type does not define are
never lost.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import msgspec

from sampan.core.errors import StatusError, invalid
from sampan.core.field import FieldError
from sampan.operator.webhook.admission.json_diff import carried_over
from sampan.operator.webhook.admission.request import AdmissionRequest, Operation
from sampan.operator.webhook.admission.response import (
    AdmissionResponse,
    Denied,
    allowed,
    denied,
    errored,
    patched,
    refused,
)
from sampan.patch.json_patch import apply
from sampan.resource import ObjectType
from sampan.wire import json
from sampan.wire.json import UNREADABLE

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

Handler = Callable[[AdmissionRequest], Awaitable[AdmissionResponse]]
"""Returns the response to one admission request. `mutating_handler` and `validating_handler` create typed handlers."""

Finding = FieldError | str
"""Result of a check: a fault of a field, or the text of a warning."""

Findings = Iterable[Finding] | None
"""Faults refuse the object with 422; warnings let it pass. (A generator function returns `Iterator[Finding]`.)"""


class Defaulter(Protocol[T]):
    """Completes objects. `default` is a plain method, which must return quickly, or an asynchronous one."""

    def default(self, obj: T) -> Awaitable[T | None] | T | None:
        """Change `obj` in place, or return another object. May raise the same errors as a `Validator`."""
        ...


class Validator(Generic[T_contra]):
    """Checks objects. Methods that are not overridden accept every object.

    Methods may be asynchronous; plain ones must return quickly.

    A method returns `Findings`. It may raise `Denied` or `ValueError` (403 with the text) or `StatusError` (its own
    code). Any other exception is a bug of the webhook: it is logged, and the request gets 500. `current_admission()`
    returns the request with its user.
    """

    def on_create(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """Check a new object."""
        return None

    def on_update(self, old: T_contra, new: T_contra) -> Awaitable[Findings] | Findings:
        """Check a change."""
        return None

    def on_delete(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """Check a deletion. Only called if the webhook's operations include DELETE."""
        return None


class FunctionValidator(Validator[T_contra]):
    """Validator made of a function of the new and the old object, which is None for a create."""

    def __init__(self, check: Callable[[T_contra, T_contra | None], Awaitable[Findings] | Findings]) -> None:
        self._check = check

    def on_create(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """Call the function without an old object."""
        return self._check(obj, None)

    def on_update(self, old: T_contra, new: T_contra) -> Awaitable[Findings] | Findings:
        """Call the function with both objects."""
        return self._check(new, old)


class BadObject(ValueError):
    """The object of a review does not fit the handler's type."""


def mutating_handler(object_type: ObjectType[T], default: Callable[[T], Awaitable[T | None] | T | None]) -> Handler:
    """Return a handler that completes objects; DELETE passes unchanged.

    The patch contains only the changes of `default`. Fields that the type does not define or does not write stay.
    """

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        if request.operation is Operation.DELETE:
            return allowed()
        obj = _decoded(object_type, request.raw_object)
        before = json.decode(object_type.encode(obj))
        outcome = default(obj)
        given = await outcome if inspect.isawaitable(outcome) else outcome
        after = json.decode(object_type.encode(obj if given is None else given))
        actual = request.object or {}
        return patched(actual, carried_over(actual, before, after))

    return handle


def validating_handler(object_type: ObjectType[T], validator: Validator[T]) -> Handler:
    """Return a handler that checks objects; CONNECT passes."""

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        outcome: Awaitable[Findings] | Findings = None
        if request.operation is Operation.CREATE:
            outcome = validator.on_create(_decoded(object_type, request.raw_object))
        elif request.operation is Operation.UPDATE:
            old = _decoded(object_type, request.raw_old_object)
            outcome = validator.on_update(old, _decoded(object_type, request.raw_object))
        elif request.operation is Operation.DELETE:
            outcome = validator.on_delete(_decoded(object_type, request.raw_old_object))
        found = list((await outcome if inspect.isawaitable(outcome) else outcome) or ())
        faults = [each for each in found if isinstance(each, FieldError)]
        warnings = [each for each in found if isinstance(each, str)]
        if not faults:
            return allowed().with_warnings(warnings)
        return refused(invalid(request.kind.gvk.group_kind, request.name, faults)).with_warnings(warnings)

    return handle


def one_after_the_other(*handlers: Handler) -> Handler:
    """Combine handlers: each receives the object with the changes of earlier handlers.

    The first refusal ends the chain. The response contains the warnings of all handlers.
    """

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        seen = request
        warnings: list[str] = []
        notes: dict[str, str] = {}
        for handler in handlers:
            response = await handled(handler, seen)
            warnings += response.warnings
            notes.update(response.audit_annotations)
            if not response.allowed:
                return replace(response, patch=(), warnings=warnings, audit_annotations=notes)
            if response.patch:
                changed = json.encode(apply(seen.object or {}, list(response.patch)))
                seen = msgspec.structs.replace(seen, raw_object=msgspec.Raw(changed))
        if seen is request:
            return replace(allowed(), warnings=warnings, audit_annotations=notes)
        whole = patched(request.object or {}, seen.object or {})
        return replace(whole, warnings=warnings, audit_annotations=notes)

    return handle


async def handled(handler: Handler, request: AdmissionRequest) -> AdmissionResponse:
    """Return the response of a handler, or of the error that it raises. Raises errors that indicate a bug."""
    try:
        return await handler(request)
    except BadObject as error:
        return errored(400, str(error))
    except StatusError as error:
        return refused(error)
    except (Denied, ValueError) as error:
        return denied(str(error))


def _decoded(object_type: ObjectType[T], raw: msgspec.Raw) -> T:
    body = bytes(raw)
    if body == b"null":
        raise BadObject("the review contains no object")
    try:
        return object_type.decode(body)
    except UNREADABLE as error:
        raise BadObject(f"the object does not fit {object_type.info.gvk}: {error}") from error
