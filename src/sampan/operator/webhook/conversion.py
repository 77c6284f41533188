"""Conversion of a kind's objects between its versions, through one of them, the hub.

    networks = webhooks.conversion(NetworkV2)

    @networks.to_hub(NetworkV1)
    def upgrade(old: NetworkV1) -> NetworkV2: ...

    @networks.from_hub(NetworkV1)
    def downgrade(new: NetworkV2) -> NetworkV1: ...

The functions convert the spec and all other fields except the metadata, which is copied automatically. An API server
lets a conversion change labels and annotations, and nothing else of the metadata.
Source: controller-runtime pkg/webhook/conversion (0.24); apiextensions pkg/apiserver/conversion (1.36).
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from sampan.core.gvk import GroupKind
from sampan.operator.webhook.partial import completed
from sampan.resource import Object, ObjectType, object_type
from sampan.wire import json

H = TypeVar("H")
S = TypeVar("S")

Convert = Callable[[Any], Any | Awaitable[Any]]

_CHANGEABLE = ("labels", "annotations")


class ConversionError(ValueError):
    """The object cannot be converted; the text is for the client."""


class HubConversion(Generic[H]):
    """The versions of one kind, all declared classes, with the functions from and to the hub."""

    def __init__(self, hub: type[H]) -> None:
        """Create the conversion, without functions. Raises `TypeError` for an undeclared class."""
        self._hub: ObjectType[Any] = object_type(hub)
        self._types = {self._hub.info.api_version: self._hub}
        self._classes: dict[str, type[Any]] = {self._hub.info.api_version: hub}
        self._up: dict[str, Convert] = {}
        self._down: dict[str, Convert] = {}

    @property
    def group_kind(self) -> GroupKind:
        """Group and kind that all versions of the hub share."""
        return self._hub.info.gvk.group_kind

    @property
    def crd_name(self) -> str:
        """Name of the kind's CustomResourceDefinition."""
        return str(self._hub.info.gvr.group_resource)

    def to_hub(self, spoke: type[S]) -> Callable[[Callable[[S], H | Awaitable[H]]], Callable[[S], H | Awaitable[H]]]:
        """Decorate the function that converts a spoke to the hub. Raises `TypeError`, `ValueError`."""
        return self._register(self._up, spoke)

    def from_hub(self, spoke: type[S]) -> Callable[[Callable[[H], S | Awaitable[S]]], Callable[[H], S | Awaitable[S]]]:
        """Decorate the function that converts the hub to a spoke. Raises `TypeError`, `ValueError`."""
        return self._register(self._down, spoke)

    def check(self) -> None:
        """Check that each spoke has both functions. Raises `TypeError`, which names the missing ones."""
        spokes = set(self._types) - {self._hub.info.api_version}
        missing = [f"to_hub({version})" for version in sorted(spokes - set(self._up))]
        missing += [f"from_hub({version})" for version in sorted(spokes - set(self._down))]
        if missing or not spokes:
            raise TypeError(f"the conversion of {self.group_kind} lacks {', '.join(missing) or 'a second version'}")

    async def convert(self, obj: Object, api_version: str) -> Object:
        """Return the object in another version. Raises `ConversionError`, and errors of the functions."""
        given = obj.get("apiVersion", "")
        if given == api_version:
            return obj
        for version in (given, api_version):
            if version not in self._types:
                raise ConversionError(f"{self.group_kind} has no version {version!r} here")
        hub = self._hub.info.api_version
        if given != hub:
            obj = await self._step(obj, self._up[given], hub)
        return obj if api_version == hub else await self._step(obj, self._down[api_version], api_version)

    async def _step(self, obj: Object, convert: Convert, api_version: str) -> Object:
        source, target = self._types[obj["apiVersion"]], self._types[api_version]
        typed = self._decoded(obj, source)
        outcome = convert(typed)
        result = await outcome if inspect.isawaitable(outcome) else outcome
        converted: Object = json.decode(target.encode(result))
        converted["metadata"] = _metadata(obj.get("metadata") or {}, converted.get("metadata") or {})
        return converted

    def _decoded(self, obj: Object, source: ObjectType[Any]) -> Any:
        """Return the typed object. Of a part of an object, the missing fields are zero; see `partial.py`."""
        try:
            return source.decode(json.encode(obj))
        except ValueError as error:
            try:
                return source.decode(json.encode(completed(obj, self._classes[source.info.api_version])))
            except (ValueError, TypeError):
                raise ConversionError(f"the object does not fit {source.info.gvk}: {error}") from error

    def _register(self, functions: dict[str, Convert], spoke: type[Any]) -> Callable[[Any], Any]:
        typed = object_type(spoke)
        version = typed.info.api_version
        if typed.info.gvk.group_kind != self.group_kind or version == self._hub.info.api_version:
            raise ValueError(f"{typed.info.gvk} is not another version of {self._hub.info.gvk}")
        if version in functions:
            raise ValueError(f"{typed.info.gvk} already has a function")

        def register(convert: Convert) -> Convert:
            self._types[version] = typed
            self._classes[version] = spoke
            functions[version] = convert
            return convert

        return register


def _metadata(before: Object, given: Object) -> Object:
    """Return the original metadata, with the labels and annotations that the conversion function has set."""
    if not given:
        return before
    kept = {name: value for name, value in before.items() if name not in _CHANGEABLE}
    return kept | {name: given[name] for name in _CHANGEABLE if given.get(name)}
