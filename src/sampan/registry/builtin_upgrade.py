"""`BuiltinUpgrade`: convert objects that another API server stored to the form that this server stores.

kube-apiserver stores some kinds in older versions than the newest one, and sets defaults when it reads, not only when
it writes. A stored object may lack fields of a later release, or have fields that a later release clears. Versions that
are no longer served are converted too, as far as kube-apiserver 1.36 reads them. Of custom resources, only the metadata
is repaired.
Source: apiserver pkg/server/storage/resource_encoding_config.go, apimachinery pkg/runtime/serializer/versioning (1.36).
"""

import logging
from collections.abc import Callable, Iterable

from sampan.core.object import Object
from sampan.registry.builtins import Builtins
from sampan.registry.definition import ResourceDefinition
from sampan.registry.old_versions.core import service
from sampan.registry.old_versions.stored_metadata import repaired
from sampan.schema.compile import DecodeError
from sampan.wire.json import DecodeError as Unknown
from sampan.wire.protobuf import supports

_NOT_ITS_FORM = (AttributeError, TypeError, ValueError)
"""Errors of the converters of old versions, which expect the types that Kubernetes writes."""

_log = logging.getLogger(__name__)


class BuiltinUpgrade:
    """An `Upgrade` of stored objects. Unknown kinds are treated as custom resources."""

    def __init__(self, builtins: Builtins, primary_family: Callable[[], str] = lambda: "IPv4") -> None:
        """`primary_family` returns the IP family of the cluster's first network."""
        self._primary_family = primary_family
        self._compiler = builtins.compiler
        self._definitions = definitions_by_kind(builtins.definitions)

    def __call__(self, obj: Object) -> Object:
        """Return a stored object in the version and with the defaults of this server. May change the given object.

        Raises `DecodeError` for an unknown version.
        """
        definition = self._definition(obj)
        if definition is None:
            return obj if supports(str(obj.get("apiVersion")), str(obj.get("kind"))) else self._custom(obj)
        if not supports(obj["apiVersion"], obj["kind"]):
            raise Unknown(f'no kind "{obj["kind"]}" is registered for version "{obj["apiVersion"]}"')
        try:
            change = definition.old_versions.get(obj["apiVersion"])
            if change is not None:
                change(obj)
            if definition.kind == "Service":
                service(obj, self._primary_family())
            obj = self._converted(obj, definition)
            stored = self._definition(obj)
            assert stored is not None
            self._decode(obj, stored, stored.storage_version)
            stored.strategy.default(obj)
        except (DecodeError, *_NOT_ITS_FORM) as error:
            _log.warning("cannot upgrade a stored %s of %s completely: %s", definition.kind, obj["apiVersion"], error)
        return obj

    def _custom(self, obj: Object) -> Object:
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            decode = self._compiler.object_meta()
            obj["metadata"] = repaired(metadata, lambda each: decode(each, []))
        return obj

    def _definition(self, obj: Object) -> ResourceDefinition | None:
        return self._definitions.get((_group(str(obj.get("apiVersion"))), str(obj.get("kind"))))

    def _converted(self, obj: Object, definition: ResourceDefinition) -> Object:
        """Convert to the stored version. Versions that are not served here differ from it in their name only."""
        if obj["apiVersion"] == definition.storage_api_version:
            return obj
        group, _, version = obj["apiVersion"].rpartition("/")
        known = definition.versions.get(version) if group == definition.group else None
        if known is not None and known.conversion is not None:
            self._decode(obj, definition, version)
            return known.conversion.to_hub(obj)
        obj["apiVersion"] = definition.storage_api_version
        return obj

    def _decode(self, obj: Object, definition: ResourceDefinition, version: str) -> None:
        self._compiler.compile(definition.versions[version].schema()).decode(obj)


def definitions_by_kind(definitions: Iterable[ResourceDefinition]) -> dict[tuple[str, str], ResourceDefinition]:
    """Return the definitions of stored resources by group and kind, also by the groups of their old versions."""
    stored = [each for each in definitions if each.storage_prefix]
    return {(group, each.kind): each for each in stored for group in (each.group, *map(_group, each.old_versions))}


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
