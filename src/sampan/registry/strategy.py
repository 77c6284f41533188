"""`Strategy`: what a resource adds to the one path that every object takes.

The generic path (registry/rest) does metadata, names, generation, managed fields, finalizers and storage; a strategy
holds only what the type itself knows. All objects here are in the *hub* version. Errors of validation are returned,
never raised.
Source: apiserver pkg/registry/rest/{create,update,delete}.go (1.36).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from sampan.core.field import FieldError
from sampan.core.names import dns1123_subdomain_errors
from sampan.core.object import Object, set_or_drop


@dataclass(slots=True)
class Context:
    """What a strategy may know of the request.

    `user` and `groups` say who asks; `namespace` and `name` are those of the object.
    """

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    namespace: str = ""
    name: str = ""
    dry_run: bool = False
    subresource: str = ""
    reader: "ObjectReader | None" = None
    """Other objects, while one is validated; they are not part of the write."""


class ObjectReader(Protocol):
    """Reads other objects, from the cache, in their hub version."""

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None: ...

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]: ...


_METADATA_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
_NOT_SPEC = frozenset({"apiVersion", "kind", "metadata", "status"})

Errors = list[FieldError]
OBJECT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp")
"""Source: apimachinery pkg/apis/meta/v1/meta.go ResetObjectMetaForStatus (1.36)."""

Release = Callable[[bool], Awaitable[None]]
"""Called once after a write that allocated something; True = the write succeeded."""


def keep_metadata(obj: Object, old: Object, names: Iterable[str]) -> None:
    """Restore fields of the metadata."""
    for name in names:
        set_or_drop(obj["metadata"], name, old["metadata"].get(name))


class Strategy:
    """The defaults suit a resource about which nothing special is known. Stateless; one instance for all objects."""

    allow_unconditional_update = True
    """Whether PUT may leave out the resourceVersion."""
    allow_create_on_update = False
    """Whether PUT may create (leases and the like)."""
    has_generation = True
    """Whether `metadata.generation` is kept: 1 on create, +1 whenever something outside metadata and status changes."""
    keeps_status_on_create = False
    """Whether a create may bring a status although /status is served (nodes, and kinds whose strategy resets it
    itself).
    """
    labels: ClassVar[Sequence[str]] = ()
    """Fields, besides those of the metadata, that a field selector may name."""
    selects_namespace = True
    """Whether a field selector may name metadata.namespace."""
    kept_metadata: ClassVar[Sequence[str]] = ()
    """Fields of the metadata that PUT/PATCH of /status does not change."""
    reset_metadata: ClassVar[dict[str, Any] | None] = None
    """FieldsV1 of the metadata that writers of /status never own."""
    field_label_aliases: ClassVar[dict[str, str]] = {}
    """Old names of selectable fields and their present names (`spec.host` of pods)."""
    keeps_status_on_update = True
    """Whether PUT/PATCH of this endpoint leaves the status alone (where /status is served)."""
    default_propagation = "Background"
    """`propagationPolicy` of a delete that names none. Unsupported: such objects have no dependents, whatever a delete
    says.
    """
    deletion_warning = ""
    """What is said to who deletes an object without saying what becomes of its dependents."""
    marks_before_deletion = False
    """Whether the first delete only marks an object: no grace period is set, no generation counted (namespaces, CRDs).
    """
    first_delete_propagates = True
    """Whether the propagation policy of a delete that only marks is looked at."""
    standard_finalizers = True
    """Whether `metadata.finalizers` have a domain or are Kubernetes' own: so in most built-in kinds."""
    companions: ClassVar[Sequence[tuple[str, str]]] = ()
    """Group and resource of objects that go with the object of the same name and namespace (endpoints of a service)."""
    returns_deleted_object = False
    """Whether DELETE answers with the object instead of a Status."""

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Why a name (or with `prefix` a generateName) is not allowed; the default is a DNS-1123 subdomain."""
        return dns1123_subdomain_errors(name, prefix=prefix)

    def size_of_work(self, size_bytes: int) -> int:
        """How much more work an object of this size is than others: as if it were larger by so many bytes."""
        return 0

    def default(self, obj: Object) -> None:
        """Fill in what the schema's own defaults do not say. Idempotent; runs after each mutation of the object."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop or set fields that a client may not decide (status is dropped by the generic path)."""

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        """Add all errors of a new object, without those of the schema."""

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Add all errors of the new state, with those of the transition."""
        self.check(ctx, obj, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Add all errors of the new status."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """Return all errors of a new object."""
        errors: Errors = []
        self.check(ctx, obj, errors)
        return errors

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Texts for `Warning` headers."""
        return []

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """As for create; `old` is what is stored. The generic path has put back the old status already."""

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Return all errors of the new state."""
        errors: Errors = []
        self.check_update(ctx, obj, old, errors)
        return errors

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Texts for `Warning` headers."""
        return self.warnings_on_create(ctx, obj)

    def prepare_for_status_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """PUT/PATCH of /status. The generic path has put back everything but metadata and status already."""

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Return all errors of the new status."""
        errors: Errors = []
        self.check_status_update(ctx, obj, old, errors)
        return errors

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Put back all that PUT/PATCH of /status may not change: everything but metadata and status."""
        for name in [name for name in obj if name not in _NOT_SPEC]:
            if name not in old:
                del obj[name]
        for name, value in old.items():
            if name not in _NOT_SPEC:
                obj[name] = value
        keep_metadata(obj, old, self.kept_metadata)

    def spec_changed(self, obj: Object, old: Object) -> bool:
        """Whether the generation grows: something outside metadata and status differs."""
        return any(obj.get(name) != old.get(name) for name in (obj.keys() | old.keys()) - _NOT_SPEC)

    def pending_finalizers(self, obj: Object) -> bool:
        """Whether something still holds up the removal of an object whose deletion was requested."""
        return bool(obj["metadata"].get("finalizers"))

    def deletion_fault(self, name: str) -> str:
        """Why the object of a name may not be deleted, whatever it is; empty when it may."""
        return ""

    def prepare_for_deletion(self, obj: Object) -> None:
        """The first delete has marked the object (`marks_before_deletion`): change what must show it."""

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Per subresource ("" = the main endpoint): FieldsV1 that its writers never own, since the write cannot
        change them.
        """
        if not status_served:
            return {}
        of_status: dict[str, Any] = {"f:spec": {}}
        if self.reset_metadata is not None:
            of_status["f:metadata"] = self.reset_metadata
        return {"": {"f:status": {}}, "status": of_status}

    def ttl_s(self, obj: Object) -> int:
        """Seconds after which the stored object expires; 0 = never (events override)."""
        return 0

    def grace_period_s(self, obj: Object, requested: int | None) -> int | None:
        """Seconds of graceful deletion for this object, or None if this resource is deleted at once (pods override)."""
        return None

    def field_labels(self, api_version: str) -> frozenset[str]:
        """Return the fields that a field selector may name."""
        of_metadata = _METADATA_FIELDS if self.selects_namespace else _METADATA_FIELDS - {"metadata.namespace"}
        return of_metadata.union(self.labels)

    selectable_part: ClassVar[Any] = None
    """A `TypedDict` of what `selectable_fields` reads, so that no more need be decoded. None: the whole object."""

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Field-selector values besides metadata.name and metadata.namespace."""
        return {}

    async def begin_create(self, ctx: Context, obj: Object, reader: ObjectReader, allocators: Any) -> Release | None:
        """Allocate (cluster IPs, ports) just before the write, after admission, before validation."""
        return None

    async def begin_update(
        self, ctx: Context, obj: Object, old: Object, reader: ObjectReader, allocators: Any
    ) -> Release | None:
        """The same for updates."""
        return None

    async def after_delete(self, obj: Object, allocators: Any) -> None:
        """Give back what the object had allocated."""
