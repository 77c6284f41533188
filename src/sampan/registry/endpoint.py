"""`Endpoint`: one resource in one version. Its parts are created on first use.

Between the request and the store an object has up to three forms: the request's version, the strategy's version and the
stored version. The strategies of built-in types use the hub version, and those of custom resources use the request's
version.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from sampan.core.event_loop.offload import offloaded
from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.patch.managed_fields.field_manager import FieldManager
from sampan.registry.awaited_conversion import AwaitedConversion
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.rest.store import ResourceStore
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.structural import Schema
from sampan.storage.encoding import decode
from sampan.wire.json import encode

T = TypeVar("T")


class Endpoint:
    """Resource at `/apis/<group>/<version>/…/<resource>`.

    Verbs read and write through `store`. `compiled` validates, prunes and sets defaults. `item_prefix` is the start of
    every stored value of the storage version; list items of built-ins omit it.
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
        "routes",
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
        self.routes: dict[tuple[object, ...], Any] = {}
        """Cache of the server's router."""
        self._awaited = None if definition.webhook is None else AwaitedConversion(definition.webhook)

    @property
    def schema(self) -> Schema:
        """Return the root schema of this version."""
        return self.version.schema()

    def is_builtin_kind(self, gvk: GroupVersionKind) -> bool:
        """Return True if a built-in type has this group, version and kind."""
        return self._compiler.is_builtin_kind(gvk)

    @property
    def compiled(self) -> CompiledSchema:
        """Return the compiled schema of this version."""
        if self._compiled is None:
            own = self.version.compiled
            self._compiled = self._compiler.compile(self.version.schema()) if own is None else own()
        return self._compiled

    def to_hub(self, obj: Object) -> Object:
        """Convert from this version to the strategy's version, in place."""
        conversion = self.version.conversion
        return obj if conversion is None else conversion.to_hub(obj)

    def from_hub(self, obj: Object) -> Object:
        """Convert from the strategy's version to this version, in place. Pass a private copy."""
        conversion = self.version.conversion
        return obj if conversion is None else conversion.from_hub(obj)

    def value_of(self, stored: bytes) -> bytes:
        """Convert stored bytes, with the resourceVersion, to bytes in this version.

        If a webhook converts, pass the result of `store.present`.
        """
        if self.is_stored_version or stored.startswith(self.item_prefix):
            return stored
        return encode(self.from_stored(decode(stored)))

    def object_of(self, stored: bytes) -> Object:
        """Decode stored bytes into an object of this version."""
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
        """Return the field manager, which updates managedFields for writes through this endpoint."""
        manager = self._field_managers.get(subresource)
        if manager is None:
            manager = self._field_managers[subresource] = self._make_field_manager(subresource)
        return manager

    async def managing_fields(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which uses the field manager.

        If a webhook converts, `work` may run several times. So it must not have changed anything when it raises. Raises
        `StatusError` 500.
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
    """Return the start of the canonical bytes of every object of a type."""
    return f'{{"kind":"{kind}","apiVersion":"{api_version}",'.encode()
