"""Status writes: patches with only the changed fields, and conditions in the form of the workload APIs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar, cast

from sampan.client import ResourceClient, merge_patch_between
from sampan.core.json.values import same
from sampan.core.time import Clock, timestamp
from sampan.patch.copying import copy_json
from sampan.resource import Object, meta

T = TypeVar("T")


async def write_status(
    client: ResourceClient[T], obj: Mapping[str, Any], status: Mapping[str, Any], *, optimistic_lock: bool | None = None
) -> T | None:
    """Write a status that was computed from the object as read. Return None if the status has not changed.

    A patch of single fields applies to any version of the object: they have one writer, and `observedGeneration`
    records the generation they were computed from. A patch with a list, such as the conditions, would remove what
    another client has added to the list. So it applies only to the version that was read. `optimistic_lock` demands
    this for all fields: use it if the status itself is state, such as counts. False demands it for none: use it if
    Kubernetes applies this status. A changed object raises `Conflict`. Raises `NotFound`, `ApiError`, `TransportError`.
    """
    before = obj.get("status") or {}
    if same(before, status):
        return None
    metadata = meta(obj)
    read = {"resourceVersion": metadata.resource_version}
    old, new = {"metadata": read, "status": before}, {"metadata": read, "status": status}
    if optimistic_lock is None:
        optimistic_lock = any(isinstance(each, list) for each in _changed(before, status))
    patch = merge_patch_between(old, new, optimistic_lock=optimistic_lock)
    where = client.in_namespace(metadata.namespace) if metadata.namespace else client
    return await where.status.patch(metadata.name, patch)


def _changed(before: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the new values of the fields that differ."""
    return (value for key, value in status.items() if key not in before or not same(before[key], value))


def status_of(obj: Mapping[str, Any]) -> Any:
    """Return a copy of the object's status that the caller may change. Its type is that of the kind's status."""
    return copy_json(obj.get("status") or {})


def find_status_condition(status: Mapping[str, Any] | None, type: str) -> Object | None:
    """Return the condition of a type, or None. An object without a status has no conditions."""
    conditions = status.get("conditions") if status else None
    return next((condition for condition in conditions or () if condition.get("type") == type), None)


def set_status_condition(
    status: Mapping[str, Any], condition: Mapping[str, Any], clock: Clock, *, update_time: bool = False
) -> bool:
    """Set a condition (`type`, `status`, `reason`, `message`); return False if status and reason are unchanged.

    The transition time changes only with the condition's status. With `update_time` the condition also gets
    `lastUpdateTime`, as those of Deployments do. Source: pkg/controller/deployment/util (1.36).
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
    _changeable(status)["conditions"] = [*others, new]
    return True


def remove_status_condition(status: Mapping[str, Any], type: str) -> None:
    """Remove the condition in place, and the list if it was the last one. A missing condition is no error."""
    others = [each for each in status.get("conditions") or () if each.get("type") != type]
    if others:
        _changeable(status)["conditions"] = others
    else:
        _changeable(status).pop("conditions", None)


def set_counts(status: Mapping[str, Any], counts: Mapping[str, Any], *, always: Collection[str] = ()) -> None:
    """Set the counts that are not 0 or in `always`, and remove the other ones from a status."""
    for name, count in counts.items():
        if count or name in always:
            _changeable(status)[name] = count
        else:
            _changeable(status).pop(name, None)


def _changeable(status: Mapping[str, Any]) -> Object:
    # Statuses are dicts; a type of sampan.kinds is compatible with Mapping only.
    return cast(Object, status)
