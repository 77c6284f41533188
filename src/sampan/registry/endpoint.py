"""`Endpoint`: one resource in one version, with all that serving it needs, made on first use.

Between the wire and the store an object is in up to three forms: the request's version, the version the strategy works
in (built-ins: the hub; custom resources: the request's), and the stored version.
"""

from collections.abc import Callable
from typing import TypeVar

from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.core.offload import offloaded
from sampan.patch.managed_fields import FieldManager
from sampan.registry.awaited_conversion import AwaitedConversion
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.rest.store import ResourceStore
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.structural import Schema
from sampan.storage.encoding import decode
from sampan.wire.json import encode

T = TypeVar("T")


class Endpoint:
    """What serves `/apis/<group>/<version>/…/<resource>`.

    `store` is where the verbs read and write; `compiled` checks, prunes and defaults bodies; `item_prefix` is how
    every stored value of the storage version begins (list items of built-ins leave it out).
    """

    __slots__ = (
        "_awaited",
        "_compiled",
        "_compiler",
        "_field_managers",
        "api_version",
        "definition",
        "dialect",
        "from_stored",
        "gvk",
        "gvr",
        "is_stored_version",
        "item_prefix",
        "list_kind",
        "store",
        "version",
    )

    def __init__(
        self,
        definition: ResourceDefinition,
        version: VersionDefinition,
        store: ResourceStore,
        from_stored: Callable[[Object], Object],
        compiler: SchemaCompiler,
    ) -> None:
        self._compiler = compiler
        self.definition = definition
        self.dialect = definition.dialect
        self.version = version
        self.store = store
        self.gvk = GroupVersionKind(definition.group, version.name, definition.kind)
        self.gvr = GroupVersionResource(definition.group, version.name, definition.resource)
        self.api_version = self.gvk.api_version
        self.list_kind = definition.list_kind
        self.is_stored_version = definition.storage_api_version == self.api_version
        self.from_stored = from_stored
        self.item_prefix = encode_prefix(definition.kind, self.api_version)
        self._compiled: CompiledSchema | None = None
        self._field_managers: dict[str, FieldManager] = {}
        self._awaited = None if definition.webhook is None else AwaitedConversion(definition.webhook)

    @property
    def schema(self) -> Schema:
        """The root schema of this version."""
        return self.version.schema()

    def is_builtin_kind(self, gvk: GroupVersionKind) -> bool:
        """Whether there is a built-in type of this name."""
        return self._compiler.is_builtin_kind(gvk)

    @property
    def compiled(self) -> CompiledSchema:
        """The compiled schema of this version."""
        if self._compiled is None:
            own = self.version.compiled
            self._compiled = self._compiler.compile(self.version.schema()) if own is None else own()
        return self._compiled

    def to_hub(self, obj: Object) -> Object:
        """From this version to the version the strategy works in (in place)."""
        conversion = self.version.conversion
        return obj if conversion is None else conversion.to_hub(obj)

    def from_hub(self, obj: Object) -> Object:
        """The reverse (in place: pass a private copy)."""
        conversion = self.version.conversion
        return obj if conversion is None else conversion.from_hub(obj)

    def value_of(self, stored: bytes) -> bytes:
        """Stored bytes (resourceVersion filled in) as bytes in this version.

        Where a webhook converts, the store has presented them before.
        """
        if self.is_stored_version or stored.startswith(self.item_prefix):
            return stored
        return encode(self.from_stored(decode(stored)))

    def object_of(self, stored: bytes) -> Object:
        """Stored bytes as an object of this version."""
        obj: Object = decode(stored)
        return obj if self.is_stored_version else self.from_stored(obj)

    def item_of(self, stored: bytes) -> bytes:
        """Return a list item without its opening brace and, for built-in types, without apiVersion and kind."""
        value = self.value_of(stored)
        if self.dialect.items_have_type:
            return value[1:]
        prefix = self.item_prefix
        if value.startswith(prefix):
            return value[len(prefix) :]
        obj = decode(value)
        obj.pop("apiVersion", None)
        obj.pop("kind", None)
        return encode(obj)[1:]

    def field_manager(self, subresource: str = "") -> FieldManager:
        """Keeps managedFields of writes through this endpoint."""
        manager = self._field_managers.get(subresource)
        if manager is None:
            manager = self._field_managers[subresource] = self._make_field_manager(subresource)
        return manager

    async def managing_fields(self, work: Callable[[], T]) -> T:
        """What `work` gives, which asks the field manager and leaves things as they were when it raises; where a
        webhook converts, it may be called several times. Raises `StatusError` 500.
        """
        return await offloaded(work) if self._awaited is None else await self._awaited.run(work)

    def _make_field_manager(self, subresource: str) -> FieldManager:
        versions = {str(self._api_version(name)): version for name, version in self.definition.versions.items()}

        def schema_for(api_version: str) -> Schema | None:
            version = versions.get(api_version)
            return version.schema() if version is not None and version.served else None

        def convert(obj: Object, api_version: str) -> Object:
            other, own = versions[api_version], versions[obj["apiVersion"]]
            if other is own:
                return obj
            if self._awaited is not None:
                return self._awaited.convert(obj, api_version)
            if self.definition.hub is not None:
                return self.definition.hub.convert(obj, api_version)
            copy = decode(encode(obj))
            hub = own.conversion.to_hub(copy) if own.conversion is not None else copy
            result = other.conversion.from_hub(hub) if other.conversion is not None else hub
            result["apiVersion"] = api_version
            return result

        return FieldManager(
            schema_for=schema_for,
            convert=convert,
            reset_fields=self.store.strategy.reset_fields(self.version.status),
            kind=self.definition.kind,
        )

    def _api_version(self, version: str) -> str:
        group = self.definition.group
        return f"{group}/{version}" if group else version


def encode_prefix(kind: str, api_version: str) -> bytes:
    """How the canonical bytes of every object of a type begin."""
    return f'{{"kind":"{kind}","apiVersion":"{api_version}",'.encode()
