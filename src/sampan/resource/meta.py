"""`ObjectMeta`, and `meta()`: uniform access to an object's metadata, for dicts and typed objects.

Source: apimachinery pkg/apis/meta/v1/types.go, pkg/api/meta/meta.go `Accessor` (1.36).
"""

from typing import Any, Final, Protocol, cast

import msgspec


class OwnerReference(msgspec.Struct, rename="camel", omit_defaults=True):
    """Reference to an owner: when the last owner has been deleted, the garbage collector deletes the object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(msgspec.Struct, rename="camel", omit_defaults=True, dict=True):
    """The metadata that every object has. Times are RFC 3339 strings, as in JSON.

    Metadata of an object that was read also contains the JSON bytes of that object, and so do copies of the metadata.
    """

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    finalizers: list[str] = msgspec.field(default_factory=list)
    owner_references: list[OwnerReference] = msgspec.field(default_factory=list)
    managed_fields: list[dict[str, Any]] = msgspec.field(default_factory=list)

    def __copy__(self) -> "ObjectMeta":
        return _restored(self.__dict__.get(_SOURCE), *msgspec.structs.astuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.__dict__.get(_SOURCE), *msgspec.structs.astuple(self))


_SOURCE: Final = "source"


def _restored(source: bytes | None, *values: Any) -> ObjectMeta:
    metadata = ObjectMeta(*values)
    if source is not None:
        metadata.__dict__[_SOURCE] = source
    return metadata


def remember_source(metadata: Any, source: bytes) -> None:
    """Attach to metadata the bytes of the object it was read from."""
    if isinstance(metadata, ObjectMeta):
        metadata.__dict__[_SOURCE] = source


def source_of(metadata: Any) -> bytes | None:
    """Return the bytes of the object that metadata was read from; None if it was not read."""
    return metadata.__dict__.get(_SOURCE) if isinstance(metadata, ObjectMeta) else None


class HasMetadata(Protocol):
    """A typed object, whose metadata is an `ObjectMeta`."""

    metadata: ObjectMeta


class Metadata(Protocol):
    """Result of `meta()`, readable and writable, with the names of `ObjectMeta`."""

    name: str
    namespace: str
    generate_name: str
    uid: str
    resource_version: str
    generation: int
    creation_timestamp: str | None
    deletion_timestamp: str | None
    deletion_grace_period_seconds: int | None
    labels: dict[str, str]
    annotations: dict[str, str]
    finalizers: list[str]
    owner_references: list[OwnerReference]
    managed_fields: list[dict[str, Any]]


_DEFAULTS = ObjectMeta()
_FIELDS = {field.name: field.encode_name for field in msgspec.structs.fields(ObjectMeta)}
_CONTAINERS = {"labels": dict, "annotations": dict, "finalizers": list, "managed_fields": list}


class DictMeta:
    """The metadata of a dict object. Reading a map or list returns the one in the object, which the caller may change
    in place.

    Assigning an empty value removes the field from the object. `owner_references` returns copies: assign to it to
    change the object.
    """

    __slots__ = ("_fields",)

    _fields: dict[str, Any]

    def __init__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        key = _FIELDS.get(name)
        if key is None:
            raise AttributeError(name)
        if name == "owner_references":
            return msgspec.convert(self._fields.get(key) or [], list[OwnerReference])
        container = _CONTAINERS.get(name)
        if container is not None:
            if self._fields.get(key) is None:
                self._fields[key] = container()
            return self._fields[key]
        value = self._fields.get(key)
        return getattr(_DEFAULTS, name) if value is None else value

    def __setattr__(self, name: str, value: Any) -> None:
        key = _FIELDS.get(name)
        if key is None:
            raise AttributeError(name)
        if not value:
            self._fields.pop(key, None)
        else:
            self._fields[key] = msgspec.to_builtins(value)


def meta(obj: Any) -> Metadata:
    """Return the metadata of a dict object or of a typed one (anything with a `metadata` attribute)."""
    if isinstance(obj, dict):
        metadata = obj.get("metadata")
        if metadata is None:
            metadata = obj["metadata"] = {}
        return cast(Metadata, DictMeta(metadata))
    return cast(HasMetadata, obj).metadata
