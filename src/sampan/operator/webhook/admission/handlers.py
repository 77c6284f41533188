"""Typed handlers: what an operator writes to fill objects in and to check them, and how it becomes a `Handler`.

Source: controller-runtime pkg/webhook/admission/{defaulter_custom,validator_custom,multi}.go (0.24). Otherwise than
there, what a handler of several changes is seen by the next one, and fields that a type does not know are never lost.
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
"""Answers one admission request. The typed ones are made by `mutating_handler` and `validating_handler`."""

Finding = FieldError | str
"""What a check finds: a fault of a field, or the text of a warning."""

Findings = Iterable[Finding] | None
"""Faults refuse the object with 422; warnings alone let it pass. (A generator function gives `Iterator[Finding]`.)"""


class Defaulter(Protocol[T]):
    """Fills objects in; a plain method, which must not take long, or an asynchronous one."""

    def default(self, obj: T) -> Awaitable[T | None] | T | None:
        """Change `obj` in place, or give another object in its stead. Raise as a `Validator` may."""
        ...


class Validator(Generic[T_contra]):
    """Checks objects. What is not overridden passes. Methods may be asynchronous; plain ones must not take long.

    A method gives `Findings`. It may raise `Denied` or `ValueError` (403 with the text) or `StatusError` (as it says);
    anything else is a bug of the webhook: logged, and answered with 500. `current_admission()` tells who asks.
    """

    def on_create(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """A new object."""
        return None

    def on_update(self, old: T_contra, new: T_contra) -> Awaitable[Findings] | Findings:
        """A change."""
        return None

    def on_delete(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """The end of an object. Only asked when the webhook's operations have DELETE."""
        return None


class FunctionValidator(Validator[T_contra]):
    """A function of the new and the old object, which is None at a creation."""

    def __init__(self, check: Callable[[T_contra, T_contra | None], Awaitable[Findings] | Findings]) -> None:
        self._check = check

    def on_create(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        """Without an old object."""
        return self._check(obj, None)

    def on_update(self, old: T_contra, new: T_contra) -> Awaitable[Findings] | Findings:
        """With both."""
        return self._check(new, old)


class BadObject(ValueError):
    """The object of a review does not fit the type that the handler is for."""


def mutating_handler(object_type: ObjectType[T], default: Callable[[T], Awaitable[T | None] | T | None]) -> Handler:
    """Have objects filled in; a DELETE passes untouched.

    Only what `default` changes is in the patch: what the type does not know or does not write stays.
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
    """Have objects checked; a CONNECT passes."""

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
    """Several as one: each sees the object as those before have left it, the first no ends it, warnings add up."""

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        seen = request
        warnings: list[str] = []
        notes: dict[str, str] = {}
        for handler in handlers:
            response = await answered(handler, seen)
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


async def answered(handler: Handler, request: AdmissionRequest) -> AdmissionResponse:
    """What a handler answers, or what it means that it raises. Raises what tells of a bug."""
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
        raise BadObject("there is no content to decode")
    try:
        return object_type.decode(body)
    except UNREADABLE as error:
        raise BadObject(f"the object does not fit {object_type.info.gvk}: {error}") from error
