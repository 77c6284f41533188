"""How large a stored object may be (as etcd's default request limit makes it in Kubernetes)."""

from sampan.core import errors
from sampan.core.object import Object
from sampan.registry.rest.store import ResourceStore

OBJECT_SIZE_BYTES_MAX = 1_572_864


def stored_bytes(store: ResourceStore, obj: Object) -> bytes:
    """The object as it is stored, without managedFields where only that makes it fit. Raises 413.

    Source: apiserver endpoints/handlers/create.go (the retry after "too large").
    """
    value = store.encode(obj)
    if len(value) <= OBJECT_SIZE_BYTES_MAX:
        return value
    if obj["metadata"].pop("managedFields", None) is not None:
        value = store.encode(obj)
        if len(value) <= OBJECT_SIZE_BYTES_MAX:
            return value
    raise errors.request_entity_too_large(f"object of {len(value)} bytes; the limit is {OBJECT_SIZE_BYTES_MAX}")
