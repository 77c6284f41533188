"""`Ref`: an object in a store, kept as bytes and decoded when somebody asks; and the tombstone of a lost one."""

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
    """What came as an object has no readable metadata or no name."""


class Ref(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """An object as a cache holds it. What is asked for often is at hand, everything else is read from `raw`.

    It never changes: a newer state of the object is another `Ref`. `decode()` makes a new object each time, which
    belongs to the caller. `labels` are the cache's own and must not be changed. Equal means: the
    same.
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
        """Empty where there is none."""
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.key.rpartition("/")[2]

    @property
    def metadata(self) -> ObjectMeta:
        """All metadata, read anew each time (some microseconds)."""
        return read_metadata(self.raw)

    @property
    def annotations(self) -> dict[str, str]:
        """Read anew each time."""
        return self.metadata.annotations

    @property
    def owner_references(self) -> list[OwnerReference]:
        """Read anew each time."""
        return self.metadata.owner_references

    @property
    def deletion_timestamp(self) -> str | None:
        """When its deletion began (it waits for finalizers); read anew each time."""
        return self.metadata.deletion_timestamp

    def decode(self) -> T:
        """A copy of the object. Raises `ValueError` when the bytes do not fit its type."""
        return self.object_type.decode(self.raw)


class DeletedFinalStateUnknown(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """An object that is gone though nobody told of its deletion: a list did not have it any more.

    `last_known` may be older than the state that it had in the end.
    Source: client-go tools/cache/delta_fifo.go `DeletedFinalStateUnknown` (1.36).
    """

    key: str
    last_known: Ref[T]

    @property
    def namespace(self) -> str:
        """Empty where there is none."""
        return self.last_known.namespace

    @property
    def name(self) -> str:
        """The object's name."""
        return self.last_known.name

    @property
    def uid(self) -> str:
        """Of the last known state."""
        return self.last_known.uid


Deletion = Ref[T] | DeletedFinalStateUnknown[T]
"""What `on_delete` is given."""


def last_known(obj: Deletion[T]) -> Ref[T]:
    """The last known state of what was deleted."""
    return obj.last_known if isinstance(obj, DeletedFinalStateUnknown) else obj


class _WithObjectMeta(msgspec.Struct):
    metadata: ObjectMeta


_object_meta = msgspec.json.Decoder(_WithObjectMeta)


def read_metadata(raw: bytes) -> ObjectMeta:
    """The metadata of an object's JSON. Fields that are null count as absent. Raises `UnreadableObject`."""
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
    """Makes a `Ref` of an object's JSON: transforms it, then, unless they are kept, drops its managed fields."""

    def __init__(
        self, object_type: ObjectType[T], *, transform: Transform | None = None, keep_managed_fields: bool = False
    ) -> None:
        self.object_type = object_type
        self._transform = transform
        self._keep_managed_fields = keep_managed_fields

    def read(self, body: bytes) -> Ref[T]:
        """The object in the form that stores hold. Raises `UnreadableObject`, `TransformError`."""
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
    """The object without `metadata.managedFields`, often half of its bytes. Raises `UnreadableObject`."""
    try:
        managed = _envelope.decode(body).metadata.managed_fields
    except UNREADABLE:
        managed = _read_leniently(body).managed_fields
    return _without_managed_fields(body, bytes(managed)) if managed else body


def _without_managed_fields(body: bytes, managed: bytes) -> bytes:
    """Cut the field out where it surely is: when its bytes are in the body once, in compact JSON.

    Inside of a string the quote before the name would have a backslash, so a text cannot be taken for it.
    """
    field = _MANAGED_FIELDS + managed
    begin = body.find(field)
    end = begin + len(field)
    if begin > 0 and body.find(field, begin + 1) < 0:
        if body[end] == 0x2C:  # a comma
            return body[:begin] + body[end + 1 :]
        if body[begin - 1] == 0x2C and body[end] == 0x7D:  # a comma before, a closing brace behind
            return body[: begin - 1] + body[end:]
    value = json.decode(body)
    value["metadata"].pop("managedFields", None)
    return json.encode(value)
