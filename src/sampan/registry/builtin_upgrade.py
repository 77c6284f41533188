"""`BuiltinUpgrade`: objects of built-in kinds that another API server stored, as this one would have stored them.

kube-apiserver stores some kinds in older versions than the newest one, and sets defaults when it reads, not only when
it writes: what is stored may lack fields that came with a later release, or that are cleared after that.
Source: apiserver pkg/server/storage/resource_encoding_config.go, apimachinery pkg/runtime/serializer/versioning (1.36).
"""

import logging

from sampan.core.object import Object
from sampan.registry.definition import ResourceDefinition
from sampan.registry.registry import ResourceRegistry
from sampan.schema.compile import DecodeError, SchemaCompiler

_log = logging.getLogger(__name__)


class BuiltinUpgrade:
    """An `Upgrade` of stored objects. Those of other kinds, custom resources for one, are left alone."""

    def __init__(self, registry: ResourceRegistry, compiler: SchemaCompiler) -> None:
        """Assumption: the built-in resources are registered already."""
        self._compiler = compiler
        self._definitions = {
            (definition.group, definition.kind): definition
            for definition in registry.definitions()
            if definition.builtin and definition.storage_prefix
        }

    def __call__(self, obj: Object) -> Object:
        """See `Upgrade`."""
        definition = self._definition(obj)
        if definition is None:
            return obj
        try:
            obj = self._converted(obj, definition)
            stored = self._definition(obj)
            assert stored is not None
            self._decode(obj, stored, stored.storage_version)
            stored.strategy.default(obj)
        except DecodeError as error:
            _log.warning("a stored %s of %s cannot be read whole: %s", definition.kind, obj["apiVersion"], error)
        return obj

    def _definition(self, obj: Object) -> ResourceDefinition | None:
        group = str(obj.get("apiVersion")).rpartition("/")[0]
        return self._definitions.get((group, str(obj.get("kind"))))

    def _converted(self, obj: Object, definition: ResourceDefinition) -> Object:
        """In the version that is stored. Versions that are not served here differ from it in their name only."""
        if obj["apiVersion"] == definition.storage_api_version:
            return obj
        version = obj["apiVersion"].rpartition("/")[2]
        known = definition.versions.get(version)
        if known is not None and known.conversion is not None:
            self._decode(obj, definition, version)
            return known.conversion.to_hub(obj)
        obj["apiVersion"] = definition.storage_api_version
        return obj

    def _decode(self, obj: Object, definition: ResourceDefinition, version: str) -> None:
        self._compiler.compile(definition.versions[version].schema()).decode(obj)
