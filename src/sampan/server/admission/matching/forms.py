"""`Forms`: conversion of a request's objects to the versions that webhooks and policies need, and back.

Source: apiserver pkg/admission/conversion.go (1.36).
"""

from typing import NamedTuple

from sampan.core import errors
from sampan.core.field import quote
from sampan.core.gvk import package_of
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.registry.crd.reading import converter
from sampan.registry.endpoint import Endpoint
from sampan.schema.compile import DecodeError
from sampan.server.admission.chain import Attributes
from sampan.server.admission.matching.subject import Equivalent
from sampan.server.admission.refusal import plain_error


class Versioned(NamedTuple):
    """Objects of the request in one version. Shared by the webhooks or policies of a plug-in."""

    obj: Object | None
    old: Object | None


class Forms:
    """Caches the objects of a request in each version. `put` clears the cache."""

    __slots__ = ("_attributes", "_known")

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._known: dict[str, Versioned] = {}

    async def of(self, desired: Equivalent) -> Versioned:
        """Return the objects in the version `desired`. **Raises** 500 if the conversion fails."""
        key = desired.gvk.api_version
        known = self._known.get(key)
        if known is None:
            attributes = self._attributes
            known = self._known[key] = Versioned(
                await self._present(attributes.obj, desired), await self._present(attributes.old, desired)
            )
        return known

    async def _present(self, obj: Object | None, desired: Equivalent) -> Object | None:
        own = self._attributes.endpoint
        if obj is None:
            return None
        copy: Object = copy_json(obj)
        if own is None or self._has_kind_of_its_own(own):
            return copy
        if own.dialect.has_internal_version:
            return desired.endpoint.from_hub(copy)
        return await _converted(copy, own, desired.endpoint)

    async def put(self, obj: Object, desired: Equivalent, *, strict: bool = False) -> None:
        """Replace the object of the request with `obj`, which has the version `desired`.

        The object is checked against its schema, pruned, defaulted and converted. **Raises** 500; with `strict` also
        for unknown fields of built-in types.
        """
        attributes, own = self._attributes, self._attributes.endpoint
        if own is not None and not self._has_kind_of_its_own(own):
            if own.dialect.has_scheme:
                _check_kind(obj, desired)
            try:
                unknown = normalise(obj, desired.endpoint)
            except DecodeError as error:
                raise errors.internal_error(str(error)) from None
            if strict and unknown and own.dialect.admission_refuses_unknown_fields:
                faults = ", ".join(f"unknown field {quote(path)}" for path in unknown)
                raise errors.internal_error(f"strict decoding error: {faults}")
            has_hub = own.dialect.has_internal_version
            obj = desired.endpoint.to_hub(obj) if has_hub else await _converted(obj, desired.endpoint, own)
            own.store.strategy.default(obj)
        attributes.obj = obj
        self._known.clear()

    def _has_kind_of_its_own(self, own: Endpoint) -> bool:
        """Return True if the subresource has a different kind than its resource (Scale, Binding), in only
        one version.
        """
        return self._attributes.gvk.kind != own.definition.kind


def _check_kind(obj: Object, desired: Equivalent) -> None:
    """Check that a patch has not changed the kind. **Raises** 500."""
    gvk = desired.gvk
    api_version, kind = obj.get("apiVersion") or gvk.api_version, obj.get("kind") or gvk.kind
    if api_version != gvk.api_version:
        text = f'no kind "{kind}" is registered for version "{api_version}"'
        raise errors.internal_error(text)
    if kind != gvk.kind:
        package = package_of(gvk.group)
        raise plain_error(f"converting ({gvk.version}.{kind}) to ({package}.{gvk.kind}): unknown conversion")


def normalise(obj: Object, endpoint: Endpoint) -> list[str]:
    """Check, prune and default an object in place; return the paths of unknown fields. **Raises** `DecodeError`."""
    unknown: list[str] = []
    endpoint.dialect.read(endpoint.compiled, obj, unknown)
    endpoint.dialect.default(endpoint.compiled, obj)
    obj.setdefault("metadata", {})
    return unknown


async def _converted(obj: Object, source: Endpoint, target: Endpoint) -> Object:
    if source.api_version == target.api_version:
        return obj
    definition = target.definition
    if definition.webhook is not None:
        return (await definition.webhook.convert([obj], target.api_version))[0]
    return converter(definition, source.version, target.version, prunes=False)(obj)
