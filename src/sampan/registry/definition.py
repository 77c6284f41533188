"""`ResourceDefinition`: the complete description of a resource. Built-in resources are data plus a strategy. A CRD is
converted to a `ResourceDefinition` too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Conversion between a version and the hub. Both methods change a private copy in place and return it; neither
    loses data.
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
    cell: Callable[[Any], Any]
    format: str = ""
    description: str = ""
    priority: int = 0


RowConditions = Callable[[Any], Sequence[Mapping[str, str]]]
"""Returns the conditions of a table row. They apply to the whole row, for example `Completed`."""
RowOrder = Callable[[Any], Any]
"""Returns a sort key of a table row for its object."""


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
    extra: bool = False
    """True if Kubernetes no longer serves this version."""
    deprecated: bool = False
    deprecation_warning: str = ""
    conversion: Conversion | None = None
    """Conversion to and from the hub. None: the version is the hub, or differs from it only in `apiVersion`."""
    columns: Callable[[], tuple[Column, ...]] | None = None
    """Table columns of this version; None: Name and Age."""
    status: bool = False
    """True if the subresource /status is served."""
    scale: ScalePaths | None = None
    selectable_fields: tuple[str, ...] = ()
    """JSON paths (`.spec.color`) of a CRD's selectableFields; built-ins use the strategy."""
    strategy: Strategy | None = None
    """Strategy of this version, for custom resources. None: the strategy of the resource applies to all versions."""
    compiled: Callable[[], CompiledSchema] | None = None
    """Returns the compiled schema, for custom resources: it is dropped together with this definition."""
    openapi: dict[str, Any] | None = None
    """Schema to publish, as in the CRD (custom resources only). Empty or None: the CRD has no schema."""

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
    """Versions by name, the preferred one first."""
    storage_version: str
    """Version in which objects are stored; it is also the hub."""
    strategy: Strategy
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: dict[str, SubresourceDefinition] = field(default_factory=dict)
    row_conditions: RowConditions | None = None
    row_order: RowOrder | None = None
    """Sort key of the rows of a list's Table; None: in the order of the objects' keys."""
    builtin: bool = True
    """True if Kubernetes defines the type, not a CRD or another server. See `dialect` for the differences."""
    storage_prefix: str = ""
    """Prefix of the objects' keys, which ends with a slash. `events.k8s.io` and core events share a prefix."""

    @property
    def dialect(self) -> Dialect:
        """Differences between built-in types and custom resources, as they apply to this resource."""
        return BUILTIN if self.builtin else CUSTOM

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    terminating: bool = False
    """True while the CRD is being deleted: objects can be read and deleted, but not created."""
    extract: Extract | None = None
    """Builds the records of the watch cache from stored rows; None: the default function does."""
    webhook: WebhookConversion | None = None
    """Webhook that converts the versions of a custom resource; None: the server converts them."""
    hub: ObjectConversion | None = None
    """Converts the versions of a custom resource by declared rules; None: they have the same fields."""
    rewritten_after: int = 0
    """Revision up to which stored rows may have another form than new rows, because the CRD has changed since."""
    old_versions: Mapping[str, Callable[[Object], None]] = field(default_factory=dict)
    """Functions that convert a stored object in place to the newest version, by its apiVersion."""
    storage_group: str | None = None
    """Group of the stored form, if it differs from the resource's group (events.k8s.io objects are stored as core
    events).
    """

    @property
    def storage_api_version(self) -> str:
        """The apiVersion of the stored form."""
        group = self.group if self.storage_group is None else self.storage_group
        return f"{group}/{self.storage_version}" if group else self.storage_version

    @property
    def stored_kind(self) -> GroupKind:
        """Kind of the stored form, which error messages about an object contain."""
        return GroupKind(self.group if self.storage_group is None else self.storage_group, self.kind)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)


def builtin_groups(definitions: Iterable[ResourceDefinition]) -> set[str]:
    """Return the groups whose unknown paths get a `Status`; unknown paths below other groups get Go's 404 page."""
    return {definition.group for definition in definitions if definition.builtin}
