"""Writing the status of an object: only what differs, and conditions as the workload APIs have them."""

import copy
from typing import Any, TypeVar

from sampan.client import ResourceClient, merge_patch_between
from sampan.core.time import Clock, timestamp
from sampan.resource import Object, meta

T = TypeVar("T")


async def write_status(
    client: ResourceClient[T], obj: Object, status: Object, *, optimistic_lock: bool = False
) -> T | None:
    """Write a status that was made for the object as it was read; None when it is that already.

    It is patched whatever version the object has by now: a status has one writer, and `observedGeneration` says what
    it tells of. With `optimistic_lock` it is written only if the object is still as it was read, which matters where
    the status is a memory (counts). Raises `Conflict` then; `NotFound`, `ApiError`, `TransportError`.
    """
    before = obj.get("status") or {}
    if before == status:
        return None
    metadata = meta(obj)
    seen = {"resourceVersion": metadata.resource_version}
    old, new = {"metadata": seen, "status": before}, {"metadata": seen, "status": status}
    patch = merge_patch_between(old, new, optimistic_lock=optimistic_lock)
    where = client.in_namespace(metadata.namespace) if metadata.namespace else client
    return await where.status.patch(metadata.name, patch)


def status_of(obj: Object) -> Object:
    """A copy of the object's status, to be changed."""
    return copy.deepcopy(obj.get("status") or {})


def find_status_condition(status: Object, type: str) -> Object | None:
    """The condition of a type."""
    return next((condition for condition in status.get("conditions") or () if condition.get("type") == type), None)


def set_status_condition(status: Object, condition: Object, clock: Clock, *, update_time: bool = False) -> bool:
    """Put a condition (`type`, `status`, `reason`, `message`) into a status; False when it says so already.

    The time of transition changes only with the condition's status. With `update_time` the condition also tells when
    it was last updated (`lastUpdateTime`), as those of Deployments do. Source: pkg/controller/deployment/util (1.36).
    """
    now = timestamp(clock)
    existing = find_status_condition(status, condition["type"])
    if existing is not None and all(
        existing.get(field, "") == condition.get(field, "") for field in ("status", "reason")
    ):
        return False
    new: dict[str, Any] = dict(condition)
    same = existing is not None and existing.get("status") == condition.get("status")
    new["lastTransitionTime"] = existing.get("lastTransitionTime", now) if existing is not None and same else now
    if update_time:
        new["lastUpdateTime"] = now
    others = [each for each in status.get("conditions") or () if each.get("type") != condition["type"]]
    status["conditions"] = [*others, new]
    return True


def remove_status_condition(status: Object, type: str) -> None:
    """Take the condition of a type out of a status."""
    others = [each for each in status.get("conditions") or () if each.get("type") != type]
    if others:
        status["conditions"] = others
    else:
        status.pop("conditions", None)
