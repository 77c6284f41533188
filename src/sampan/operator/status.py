"""Write the status of an object if it has changed, and only the status."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from sampan.client.patch import MergePatch, merge_patch_between
from sampan.client.resource_client import ResourceClient
from sampan.core.time import Clock
from sampan.operator.conditions import Condition, set_condition
from sampan.resource import Object, meta

T = TypeVar("T")


async def patch_status(client: ResourceClient[T], before: T, after: T, *, optimistic_lock: bool = False) -> T:
    """Write the difference between the status of two states of an object. Return `before` if there is none.

    `before` is the object as it was read, `after` a changed copy (read it twice from the cache, or use
    `copy.deepcopy`). Lists, including conditions, are written as a whole. With `optimistic_lock`, a status that another
    client has changed meanwhile is not overwritten: `Conflict` is raised. Raises `NotFound` if the object no longer
    exists.
    """
    return await _patch(client, before, client.to_dict(after), optimistic_lock=optimistic_lock)


async def patch_condition(
    client: ResourceClient[T],
    obj: T,
    condition: Condition,
    fields: Mapping[str, Any] | None = None,
    *,
    clock: Clock | None = None,
) -> bool:
    """Write a condition and other fields of the status, if they have changed. Return True if the condition has.

    `fields` have their names in JSON. The condition observes the generation of `obj`, as it was read. `clock` gives the
    time of a transition, as in `set_condition`. Raises `Conflict` if the object has changed since, and `NotFound`.
    """
    after = client.to_dict(obj)
    status = after["status"] = {**(after.get("status") or {}), **msgspec.to_builtins(fields or {})}
    condition.observed_generation = meta(obj).generation
    conditions = status.setdefault("conditions", [])
    changed = set_condition(conditions, msgspec.to_builtins(condition), clock)
    for each in conditions if changed else ():
        each.setdefault("message", "")  # The API requires it, and structs omit an empty one.
    await _patch(client, obj, after, optimistic_lock=True)
    return changed


async def _patch(client: ResourceClient[T], before: T, new: Object, *, optimistic_lock: bool) -> T:
    old = client.to_dict(before)
    fields = merge_patch_between({"status": old.get("status") or {}}, {"status": new.get("status") or {}}).fields
    if not fields:
        return before
    if optimistic_lock:
        fields = {**fields, "metadata": {"resourceVersion": meta(before).resource_version}}
    if client.object_type.info.namespaced:
        client = client.in_namespace(meta(before).namespace)
    return await client.patch(meta(before).name, MergePatch(fields), subresource="status")
