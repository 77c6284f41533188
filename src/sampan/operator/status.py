"""Write the status of an object if it has changed, and only the status."""

from typing import TypeVar

from sampan.client.patch import MergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.resource import meta

T = TypeVar("T")


async def patch_status(client: ResourceClient[T], before: T, after: T, *, optimistic_lock: bool = False) -> T:
    """Write the difference between the status of two states of an object. Return `before` if there is none.

    `before` is the object as it was read, `after` a changed copy (read it twice from the cache, or use
    `copy.deepcopy`). Lists, including conditions, are written as a whole. With `optimistic_lock`, a status that another
    client has changed meanwhile is not overwritten: `Conflict` is raised. Raises `NotFound` if the object no longer
    exists.
    """
    old, new = client.to_dict(before), client.to_dict(after)
    fields = merge_patch_between({"status": old.get("status") or {}}, {"status": new.get("status") or {}}).fields
    if not fields:
        return before
    if optimistic_lock:
        fields = {**fields, "metadata": {"resourceVersion": meta(before).resource_version}}
    if client.object_type.info.namespaced:
        client = client.in_namespace(meta(before).namespace)
    return await client.patch(meta(before).name, MergePatch(fields), subresource="status")
