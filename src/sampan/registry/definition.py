"""`ResourceDefinition`: the complete description of a resource. Built-ins are data plus a strategy; a CRD becomes the
same thing.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sampan.core.gvk import GroupKind, GroupResource, GroupVersionKind
from sampan.core.object import Object
from sampan.registry.dialect import BUILTIN, CUSTOM, Dialect
from sampan.registry.strategy import Strategy
from sampan.schema.compile import CompiledSchema
from sampan.schema.structural import Schema
from sampan.storage.records import Extract, Record


class Conversion(Protocol):
    """Between one version and the hub. Both directions work in place on a private copy and return it; neither loses
    anything.
    """

    def to_hub(self, obj: Object) -> Object: ...

    def from_hub(self, obj: Object) -> Object: ...


class ObjectConversion(Protocol):
    """Converts the versions of a custom resource by rules."""

    def convert(self, obj: Object, api_version: str) -> Object:
        """Return the object in a version, as a private copy. Raises `StatusError` 500."""
        ...


class WebhookConversion(Protocol):
    """Asynchronous conversion by a webhook. All methods raise `StatusError` 500 if it fails."""

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """Return the objects in a version, in order."""
        ...

    async def values(self, values: Sequence[bytes], api_version: str) -> list[bytes]:
        """Convert objects as canonical bytes with their resourceVersion."""
        ...

    async def records(self, records: Sequence[Record], api_version: str, *, refresh: bool = False) -> list[Record]:
        """Convert records. Results are cached; `refresh` bypasses the cache."""
        ...

    async def shared_records(self, records: Sequence[Record], api_version: str) -> list[Record]:
        """Convert records, sharing one call among concurrent requests for the same records."""
        ...


@dataclass(frozen=True, slots=True)
class Column:
    """A Table column. `cell` takes the object in the column's version and gives a JSON scalar."""

    name: str
    type: str
    cell: Callable[[Object], Any]
    format: str = ""
    description: str = ""
    priority: int = 0


RowConditions = Callable[[Object], Sequence[Mapping[str, str]]]
"""Return the conditions of a table row: marks of the whole row."""


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Fields that the scale subresource reads and writes (dotted paths without the leading dot)."""

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    label_selector: str = ""


@dataclass(slots=True)
class VersionDefinition:
    """One version of a resource."""

    name: str
    schema: Callable[[], Schema]
    """The root schema; built on first use."""
    served: bool = True
    deprecated: bool = False
    deprecation_warning: str = ""
    conversion: Conversion | None = None
    """None: the hub itself, or differs from it by apiVersion alone."""
    columns: Callable[[], tuple[Column, ...]] | None = None
    """None: Name and Age."""
    status: bool = False
    """The subresource /status is served."""
    scale: ScalePaths | None = None
    selectable_fields: tuple[str, ...] = ()
    """JSON paths (`.spec.color`) of a CRD's selectableFields; built-ins use the strategy."""
    strategy: Strategy | None = None
    """The strategy of this version where each version has its own (custom resources)."""
    compiled: Callable[[], CompiledSchema] | None = None
    """The compiled schema, where it lives and dies with this definition (custom resources)."""
    openapi: dict[str, Any] | None = None
    """Schema to publish, as in the CRD (custom resources only; empty: there is none)."""

    def api_version_of(self, group: str) -> str:
        """This version's `apiVersion`."""
        return f"{group}/{self.name}" if group else self.name


@dataclass(slots=True)
class SubresourceDefinition:
    """A subresource beyond status and scale (binding, finalize, eviction, token, ...), for discovery and routing."""

    name: str
    kind: GroupVersionKind
    verbs: tuple[str, ...]
    strategy: Strategy | None = None
    """Strategy of a subresource that is written like the object; None: it has none."""


@dataclass(slots=True)
class ResourceDefinition:
    """One resource of one group, in all its versions."""

    group: str
    resource: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    versions: dict[str, VersionDefinition]
    """In order of preference."""
    storage_version: str
    """The version stored; it is also the hub."""
    strategy: Strategy
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: dict[str, SubresourceDefinition] = field(default_factory=dict)
    row_conditions: RowConditions | None = None
    builtin: bool = True
    """The type is one of Kubernetes' own, not defined by a CRD or another server. `dialect` has the consequences."""
    storage_prefix: str = ""
    """Prefix of the objects' keys, which ends with a slash. `events.k8s.io` and core events share one."""

    @property
    def dialect(self) -> Dialect:
        """Differences between built-in types and custom resources, as they apply to this resource."""
        return BUILTIN if self.builtin else CUSTOM

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    terminating: bool = False
    """The CRD is being deleted: objects may be read and deleted, not created."""
    extract: Extract | None = None
    """Makes the cache's records from stored rows; None: the default."""
    webhook: WebhookConversion | None = None
    """Webhook that converts the versions of a custom resource; None: the server does."""
    hub: ObjectConversion | None = None
    """Converts the versions of a custom resource by declared rules; None: they have the same fields."""
    rewritten_after: int = 0
    """Rows up to this revision may be stored in another form than the one written now (the CRD has changed since)."""
    settled: Callable[[], Awaitable[None]] | None = None
    """Waits until what was written is in effect; awaited before a write is answered (CRDs: what they declare is
    served).
    """
    storage_group: str | None = None
    """The group of the stored form where it differs (events.k8s.io objects are stored as core events)."""

    @property
    def storage_api_version(self) -> str:
        """The apiVersion of the stored form."""
        group = self.group if self.storage_group is None else self.storage_group
        return f"{group}/{self.storage_version}" if group else self.storage_version

    @property
    def stored_kind(self) -> GroupKind:
        """Kind of the stored form, which errors about an object name."""
        return GroupKind(self.group if self.storage_group is None else self.storage_group, self.kind)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)


def builtin_groups(definitions: Iterable[ResourceDefinition]) -> set[str]:
    """Return the groups whose unknown paths get a `Status`; below other groups they get Go's 404 page."""
    return {definition.group for definition in definitions if definition.builtin}
