"""`Strategy`: hooks of a resource in the common path of every object.

The common path (registry/rest) handles metadata, names, generation, managed fields, finalizers and storage. A strategy
adds the rules of the type. All objects here are in the *hub* version. Validation errors are returned, never raised.
Source: apiserver pkg/registry/rest/{create,update,delete}.go (1.36).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import msgspec

from sampan.core.field import FieldError
from sampan.core.json.values import same
from sampan.core.object import Object, set_or_drop
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.storage.records import Record


class Context(msgspec.Struct):
    """Properties of a request that a strategy may use.

    `user` and `groups` identify the client; `namespace` and `name` identify the object.
    """

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    namespace: str = ""
    name: str = ""
    dry_run: bool = False
    subresource: str = ""
    user_agent: str = ""
    traceparent: str = ""
    """Header of that name."""
    reader: "RecordReader | None" = None
    """Reader of other objects during validation. The write does not guarantee that these objects stay unchanged."""


class ObjectReader(Protocol):
    """Reader of other objects from the cache, in their hub version."""

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None: ...

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]: ...


class RecordReader(ObjectReader, Protocol):
    """Reader that also returns objects as they are stored, to decode only a few of them."""

    def records(self, group: str, resource: str, namespace: str = "") -> Sequence[Record]: ...


_METADATA_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
_NOT_SPEC = frozenset({"apiVersion", "kind", "metadata", "status"})

KindObject: TypeAlias = Any
"""Object of the strategy's kind. Subclasses name its type: `obj: apps_v1.Deployment`."""
Errors = list[FieldError]
OBJECT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp")
"""Fields that writers of /status never own.

Source: apimachinery pkg/apis/meta/v1/meta.go ResetObjectMetaForStatus (1.36).
"""

Release = Callable[[bool], Awaitable[None]]
"""Callback after a write that allocated something. Its argument is True if the write succeeded."""


def keep_metadata(obj: Object, old: Object, names: Iterable[str]) -> None:
    """Copy these fields of the metadata from the stored object `old`."""
    for name in names:
        set_or_drop(obj["metadata"], name, old["metadata"].get(name))


class Strategy:
    """Strategy with defaults for a resource without special rules. It is shared by all objects, and has no state except
    caches. The text below a flag describes the behavior if the flag is True.
    """

    allow_unconditional_update = True
    """PUT may omit the resourceVersion."""
    allow_create_on_update = False
    """PUT may create an object, for example a Lease."""
    has_generation = True
    """`metadata.generation` is 1 on create and grows with every change outside metadata and status."""
    keeps_status_on_create = False
    """A create may set the status although /status is served (nodes, and kinds whose strategy resets it)."""
    labels: ClassVar[Sequence[str]] = ()
    """Fields for field selectors, in addition to the fields of the metadata."""
    selects_namespace = True
    """A field selector may use metadata.namespace."""
    kept_metadata: ClassVar[Sequence[str]] = ()
    """Fields of the metadata that PUT/PATCH of /status does not change."""
    reset_metadata: ClassVar[dict[str, Any] | None] = None
    """FieldsV1 of the metadata that writers of /status never own."""
    field_label_aliases: ClassVar[dict[str, str]] = {}
    """Old names of selectable fields and their current names (`spec.host` of pods)."""
    keeps_status_on_update = True
    """PUT/PATCH of this endpoint does not change the status if /status is served."""
    default_propagation = "Background"
    """`propagationPolicy` of a delete that does not set it.

    Unsupported: objects of the kind have no dependents, and a policy has no effect.
    """
    deletion_warning = ""
    """Warning to a client that deletes an object without a propagation policy."""
    marks_before_deletion = False
    """The first delete only marks an object: it sets no grace period and keeps the generation (namespaces, CRDs)."""
    first_delete_propagates = True
    """A delete that only marks applies its propagation policy."""
    standard_finalizers = True
    """Each entry of `metadata.finalizers` must have a domain or be a standard finalizer, as in most built-in kinds."""
    allocates: ClassVar[bool] = False
    """True if writes allocate cluster IPs and ports."""
    companions: ClassVar[Sequence[tuple[str, str]]] = ()
    """Group and resource of companion objects with the same name and namespace (Endpoints of a Service)."""
    returns_deleted_object = False
    """DELETE returns the object instead of a Status."""

    def for_cluster(self) -> "Strategy":
        """Return the strategy of one cluster: this one if it has no cache, or a new one."""
        return self

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Return the faults of a name, or with `prefix` of a generateName. The default is a DNS-1123 subdomain."""
        return dns1123_subdomain_errors(name, prefix=prefix)

    def size_of_work(self, size_bytes: int) -> int:
        """Return the cost of processing an object beyond that of an ordinary object, in bytes of an ordinary object."""
        return 0

    def default(self, obj: KindObject) -> None:
        """Set the defaults that the schema does not contain. Idempotent; runs after each mutation of the object."""

    def prepare_for_create(self, ctx: Context, obj: KindObject) -> None:
        """Reset or set fields that the client must not set. The common path has removed the status."""

    def check(self, ctx: Context, obj: KindObject, errors: Errors) -> None:
        """Add all errors of a new object to `errors`, except errors of the schema."""

    def check_update(self, ctx: Context, obj: KindObject, old: KindObject, errors: Errors) -> None:
        """Add all errors of the new state and of the transition to `errors`."""
        self.check(ctx, obj, errors)

    def check_status_update(self, ctx: Context, obj: KindObject, old: KindObject, errors: Errors) -> None:
        """Add all errors of the new status to `errors`."""

    def validate(self, ctx: Context, obj: KindObject) -> list[FieldError]:
        """Return all errors of a new object."""
        errors: Errors = []
        self.check(ctx, obj, errors)
        return errors

    def warnings_on_create(self, ctx: Context, obj: KindObject) -> list[str]:
        """Return texts for `Warning` headers."""
        return []

    def prepare_for_update(self, ctx: Context, obj: KindObject, old: KindObject) -> None:
        """Reset or set fields that the client must not set. `old` is the stored object; the common path has restored
        its status.
        """

    def validate_update(self, ctx: Context, obj: KindObject, old: KindObject) -> list[FieldError]:
        """Return all errors of the new state."""
        errors: Errors = []
        self.check_update(ctx, obj, old, errors)
        return errors

    def warnings_on_update(self, ctx: Context, obj: KindObject, old: KindObject) -> list[str]:
        """Return texts for `Warning` headers."""
        return self.warnings_on_create(ctx, obj)

    def prepare_for_status_update(self, ctx: Context, obj: KindObject, old: KindObject) -> None:
        """Prepare PUT/PATCH of /status. The common path has restored everything but metadata and status."""

    def validate_status_update(self, ctx: Context, obj: KindObject, old: KindObject) -> list[FieldError]:
        """Return all errors of the new status."""
        errors: Errors = []
        self.check_status_update(ctx, obj, old, errors)
        return errors

    def keep_for_status_update(self, obj: KindObject, old: KindObject) -> None:
        """Restore everything that PUT/PATCH of /status must not change: all but metadata and status."""
        for name in [name for name in obj if name not in _NOT_SPEC]:
            if name not in old:
                del obj[name]
        for name, value in old.items():
            if name not in _NOT_SPEC:
                obj[name] = value
        keep_metadata(obj, old, self.kept_metadata)

    def spec_changed(self, obj: KindObject, old: KindObject) -> bool:
        """Return True if the generation grows: something outside metadata and status differs."""
        for name in (obj.keys() | old.keys()) - _NOT_SPEC:  # noqa: SIM110  (a generator takes a frame for each name)
            if not same(obj.get(name), old.get(name)):
                return True
        return False

    def pending_finalizers(self, obj: KindObject) -> bool:
        """Return True if more than metadata.finalizers delays the removal of an object with requested deletion."""
        return bool(obj["metadata"].get("finalizers"))

    def deletion_fault(self, name: str) -> str:
        """Return the reason why no object of this name may be deleted; "" if it may be deleted."""
        return ""

    def prepare_for_deletion(self, obj: KindObject) -> None:
        """Update an object that the first delete has marked (`marks_before_deletion`)."""

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Return FieldsV1 for each subresource ("" = the main endpoint) that its writers never own.

        These are the fields that the write cannot change.
        """
        if not status_served:
            return {}
        of_status: dict[str, Any] = {"f:spec": {}}
        if self.reset_metadata is not None:
            of_status["f:metadata"] = self.reset_metadata
        return {"": {"f:status": {}}, "status": of_status}

    def ttl_s(self, obj: KindObject) -> int:
        """Return the seconds until the stored object expires; 0 = never. Events override it."""
        return 0

    def grace_period_s(self, obj: KindObject, requested: int | None) -> int | None:
        """Return the seconds of graceful deletion, or None if objects are deleted at once. Pods override it."""
        return None

    def field_labels(self, api_version: str) -> frozenset[str]:
        """Return the fields that a field selector may name."""
        of_metadata = _METADATA_FIELDS if self.selects_namespace else _METADATA_FIELDS - {"metadata.namespace"}
        return of_metadata.union(self.labels)

    selectable_part: ClassVar[Any] = None
    """`TypedDict` of the fields that `selectable_fields` reads, so that only they are decoded. None: the whole object.
    """

    def selectable_fields(self, obj: KindObject) -> dict[str, str]:
        """Return the values of the selectable fields, besides metadata.name and metadata.namespace."""
        return {}

    async def begin_create(
        self, ctx: Context, obj: KindObject, reader: ObjectReader, allocation: Any
    ) -> Release | None:
        """Allocate cluster IPs and ports, after admission and before validation."""
        return None

    async def begin_update(
        self, ctx: Context, obj: KindObject, old: KindObject, reader: ObjectReader, allocation: Any
    ) -> Release | None:
        """Allocate cluster IPs and ports for an update, after admission and before validation."""
        return None

    async def after_delete(self, obj: KindObject, allocation: Any) -> None:
        """Release the allocations of the object."""
