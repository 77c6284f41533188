"""`Ref`: an object in a store, kept as bytes and decoded on demand; and tombstones of deleted objects."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from sampan.informer.key import join_key
from sampan.informer.transform import Transform, transformed
from sampan.resource.meta import ObjectMeta, OwnerReference
from sampan.resource.object_type import ObjectType
from sampan.wire import json
from sampan.wire.json import UNREADABLE

T = TypeVar("T")


class UnreadableObject(ValueError):
    """A received object has no readable metadata or no name."""


class Ref(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """Immutable state of an object in a cache. Frequently used fields are attributes; `raw` has all.

    A newer state of the object is another `Ref`. `decode()` returns a new object, which belongs to the caller. `labels`
    belong to the cache and must not be changed. Two refs are equal only if they are identical.
    """

    object_type: ObjectType[T]
    key: str
    """`namespace/name`, or `name`."""
    uid: str
    resource_version: str
    generation: int
    labels: Mapping[str, str]
    raw: bytes
    """The object's JSON."""

    @property
    def namespace(self) -> str:
        """Namespace; empty for cluster-scoped objects."""
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Name of the object."""
        return self.key.rpartition("/")[2]

    @property
    def metadata(self) -> ObjectMeta:
        """All metadata, decoded on each access (some microseconds)."""
        return read_metadata(self.raw)

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations, decoded on each access."""
        return self.metadata.annotations

    @property
    def owner_references(self) -> list[OwnerReference]:
        """Owner references, decoded on each access."""
        return self.metadata.owner_references

    @property
    def deletion_timestamp(self) -> str | None:
        """Start of the deletion, if the object waits for finalizers. Decoded on each access."""
        return self.metadata.deletion_timestamp

    def decode(self) -> T:
        """Return a decoded copy. Raises `ValueError` if the bytes do not fit the type."""
        return self.object_type.decode(self.raw)


class DeletedFinalStateUnknown(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """Tombstone of an object whose deletion was not observed: a list no longer contains it.

    `last_known` may be older than the last state of the object.
    Source: client-go tools/cache/delta_fifo.go `DeletedFinalStateUnknown` (1.36).
    """

    key: str
    last_known: Ref[T]

    @property
    def namespace(self) -> str:
        """Namespace; empty for cluster-scoped objects."""
        return self.last_known.namespace

    @property
    def name(self) -> str:
        """Name of the object."""
        return self.last_known.name

    @property
    def uid(self) -> str:
        """UID of the last known state."""
        return self.last_known.uid


Deletion = Ref[T] | DeletedFinalStateUnknown[T]
"""Argument of `on_delete`."""


def last_known(obj: Deletion[T]) -> Ref[T]:
    """Return the last known state of a deleted object."""
    return obj.last_known if isinstance(obj, DeletedFinalStateUnknown) else obj


class _WithObjectMeta(msgspec.Struct):
    metadata: ObjectMeta


_object_meta = msgspec.json.Decoder(_WithObjectMeta)


def read_metadata(raw: bytes) -> ObjectMeta:
    """Return the metadata of an object's JSON. Null fields count as absent. Raises `UnreadableObject`."""
    try:
        return _object_meta.decode(raw).metadata
    except UNREADABLE:
        pass
    try:
        return msgspec.convert(_without_nulls(json.decode(raw)["metadata"]), ObjectMeta)
    except (*UNREADABLE, TypeError, LookupError, AttributeError) as error:
        raise UnreadableObject(f"the object's metadata cannot be read: {error}") from None


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if inner is not None}


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    managed_fields: msgspec.Raw = msgspec.Raw()


class _Envelope(msgspec.Struct, gc=False):
    metadata: _Metadata


_envelope = msgspec.json.Decoder(_Envelope)
_NO_LABELS: Mapping[str, str] = {}


class RefReader(Generic[T]):
    """Creates a `Ref` from JSON: applies the transform, then removes managed fields unless they are kept."""

    def __init__(
        self, object_type: ObjectType[T], *, transform: Transform | None = None, keep_managed_fields: bool = False
    ) -> None:
        self.object_type = object_type
        self._transform = transform
        self._keep_managed_fields = keep_managed_fields

    def read(self, body: bytes) -> Ref[T]:
        """Return the object as stores keep it. Raises `UnreadableObject`, `TransformError`."""
        if self._transform is not None:
            body = transformed(self._transform, body)
        try:
            meta = _envelope.decode(body).metadata
        except UNREADABLE:
            meta = _read_leniently(body)
        if not meta.name:
            raise UnreadableObject("the object has no name")
        if not self._keep_managed_fields and meta.managed_fields:
            body = _without_managed_fields(body, bytes(meta.managed_fields))
        key = join_key(meta.namespace, meta.name)
        labels = meta.labels or _NO_LABELS
        return Ref(self.object_type, key, meta.uid, meta.resource_version, meta.generation, labels, body)


def _read_leniently(body: bytes) -> _Metadata:
    meta = read_metadata(body)
    managed = msgspec.Raw(b"[]") if meta.managed_fields else msgspec.Raw()
    return _Metadata(meta.name, meta.namespace, meta.uid, meta.resource_version, meta.generation, meta.labels, managed)


_MANAGED_FIELDS = b'"managedFields":'


def strip_managed_fields(body: bytes) -> bytes:
    """Return the object without `metadata.managedFields`. Raises `UnreadableObject`."""
    try:
        managed = _envelope.decode(body).metadata.managed_fields
    except UNREADABLE:
        managed = _read_leniently(body).managed_fields
    return _without_managed_fields(body, bytes(managed)) if managed else body


def _without_managed_fields(body: bytes, managed: bytes) -> bytes:
    """Remove the field by cutting its bytes, if they occur once and in compact JSON; else decode and encode.

    Inside a string, the quote before the name would have a backslash, so the bytes cannot match there.
    """
    field = _MANAGED_FIELDS + managed
    begin = body.find(field)
    end = begin + len(field)
    if begin > 0 and body.find(field, begin + 1) < 0:
        if body[end] == 0x2C:  # a comma
            return body[:begin] + body[end + 1 :]
        if body[begin - 1] == 0x2C and body[end] == 0x7D:  # a comma before the field, a closing brace after it
            return body[: begin - 1] + body[end:]
    value = json.decode(body)
    value["metadata"].pop("managedFields", None)
    return json.encode(value)
