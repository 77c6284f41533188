"""Size limit of stored objects. It equals etcd's default request limit in Kubernetes."""

from sampan.core import errors
from sampan.core.object import Object
from sampan.registry.rest.store import ResourceStore

OBJECT_SIZE_BYTES_MAX = 1_572_864


def stored_bytes(store: ResourceStore, obj: Object, keep_managed_fields: bool = False) -> bytes:
    """Return the object as stored bytes. If the object is too large, drop managedFields unless they must be kept.
    Raises 413 if it is still too large.

    Source: apiserver endpoints/handlers/{create,patch}.go (the retry after "too large").
    """
    value = store.encode(obj)
    if len(value) <= OBJECT_SIZE_BYTES_MAX:
        return value
    if not keep_managed_fields and obj["metadata"].pop("managedFields", None) is not None:
        value = store.encode(obj)
        if len(value) <= OBJECT_SIZE_BYTES_MAX:
            return value
    raise errors.request_entity_too_large(f"object of {len(value)} bytes; the limit is {OBJECT_SIZE_BYTES_MAX}")
