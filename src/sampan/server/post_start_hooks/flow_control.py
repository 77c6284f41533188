"""Keep the bootstrap objects of API priority and fairness: create missing ones, restore changed ones.

Mandatory objects are always restored. A suggested object is not changed if its annotation autoupdate-spec is false.
Source: kubernetes pkg/registry/flowcontrol/{ensurer/strategy,rest/storage_flowcontrol}.go (1.36).
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.endpoint import Endpoint
from sampan.registry.kinds.flowcontrol.bootstrap import (
    AUTO_UPDATE,
    FLOW_CONTROL_GROUP,
    MANDATORY,
    flow_schemas,
    priority_levels,
)
from sampan.registry.kinds.flowcontrol.flow_schema import same_spec
from sampan.registry.rest.metadata import fill_system_fields
from sampan.registry.strategy import Context
from sampan.registry.write.own import delete, update
from sampan.storage.encoding import decode, encode
from sampan.storage.store import KeyExists, Untransformable

_log = logging.getLogger(__name__)

KEEP_INTERVAL_S: Final = 60.0
RESOURCES: Final = ("prioritylevelconfigurations", "flowschemas")
_USER: Final = "system:apiserver"
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})

EndpointOf = Callable[[str, str, str], Endpoint | None]
"""Function that returns the endpoint of a group, version and resource."""


async def ensure_flow_control(endpoint_of: EndpointOf, clock: Clock) -> None:
    """Create or restore all objects once. Raises `StatusError`."""
    for resource, specs in (("prioritylevelconfigurations", priority_levels()), ("flowschemas", flow_schemas())):
        endpoint = endpoint_of(FLOW_CONTROL_GROUP, "v1", resource)
        assert endpoint is not None
        endpoint.store.cache.poll()
        async with asyncio.TaskGroup() as group:
            for name, spec in specs.items():
                group.create_task(_ensure(endpoint, name, spec, clock))
        for name in list(_unwanted(endpoint, specs)):
            await _remove(endpoint, name, clock)


async def keep_flow_control(endpoint_of: EndpointOf, clock: Clock) -> None:
    """Run `ensure_flow_control` a minute after an object has changed, until cancelled. The objects must exist."""
    endpoints = [endpoint_of(FLOW_CONTROL_GROUP, "v1", resource) for resource in RESOURCES]
    changed = asyncio.Event()
    listeners = [endpoint.store.cache.listeners for endpoint in endpoints if endpoint is not None]
    for each in listeners:
        each.append(changed.set)
    try:
        await _ensure_after_changes(changed, endpoint_of, clock)
    finally:
        for each in listeners:
            each.remove(changed.set)


async def _ensure_after_changes(changed: asyncio.Event, endpoint_of: EndpointOf, clock: Clock) -> None:
    while True:
        await changed.wait()
        await asyncio.sleep(KEEP_INTERVAL_S)
        changed.clear()
        try:
            await ensure_flow_control(endpoint_of, clock)
        except* Exception as errors:
            changed.set()  # so that the next minute tries again
            _log.warning(
                "cannot keep the bootstrap objects of flow control", extra={"error": str(errors.exceptions[0])}
            )


async def _ensure(endpoint: Endpoint, name: str, spec: Object, clock: Clock) -> None:
    store = endpoint.store
    try:
        record = store.cache.get(store.key("", name))
    except Untransformable:
        return  # already logged; an unreadable object cannot be restored
    if record is None:
        await _create(endpoint, name, spec, clock)
        return
    if revised(decode(record.value), name, spec) is None:
        return

    def edit(existing: Object, old: Object) -> Object | None:
        return revised(existing, name, spec)

    try:
        await update(store, _context(name), edit, clock)
    except StatusError as error:
        if error.reason not in (Reason.CONFLICT, Reason.NOT_FOUND):
            raise


async def _create(endpoint: Endpoint, name: str, spec: Object, clock: Clock) -> None:
    """Write directly to the store. These objects are known to be valid and need no validation."""
    store = endpoint.store
    obj: Object = {
        "kind": endpoint.definition.kind,
        "apiVersion": endpoint.api_version,
        "metadata": {"name": name, "generation": 1, "annotations": {AUTO_UPDATE: "true"}},
        "spec": spec,
        "status": {},
    }
    fill_system_fields(obj["metadata"], clock)
    level = spec.get("priorityLevelConfiguration")
    if level is not None:
        obj["status"] = {"conditions": [dangling_condition(level["name"], True, timestamp(clock))]}
    try:
        await store.store.create(store.key("", name), encode(obj))
    except KeyExists:
        pass  # Another server created it first; the next pass compares it.


def dangling_condition(level: str, exists: bool, now: str) -> Object:
    """Return the condition of a flow schema for the priority level that it names."""
    text = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "lastTransitionTime": now,
        "reason": "Found" if exists else "NotFound",
        "message": f"{text} and it exists" if exists else f"{text} but there is no such object",
    }


def revised(existing: Object, name: str, spec: Object) -> Object | None:
    """Return the corrected object, or None if `existing` needs no correction. `existing` is not changed."""
    metadata = existing["metadata"]
    annotations = metadata.get("annotations") or {}
    annotation = annotations.get(AUTO_UPDATE, "")
    automatic = name in MANDATORY or _automatic(annotation, metadata.get("generation", 0))
    annotated = annotation in (_TRUE if automatic else _FALSE)
    equal = not automatic or _equal(existing.get("spec") or {}, name, spec)
    if annotated and equal:
        return None
    result = dict(existing)
    if not annotated:
        text = "true" if automatic else "false"
        result["metadata"] = {**metadata, "annotations": {**annotations, AUTO_UPDATE: text}}
    if not equal:
        result["spec"] = spec
    return result


def _equal(present: Object, name: str, spec: Object) -> bool:
    if name == "exempt" and "exempt" in spec:
        # The seats of `exempt` belong to the administrator.
        return same_spec({**present, "exempt": None}, {**spec, "exempt": None})
    return same_spec(present, spec)


def _automatic(annotation: str, generation: int) -> bool:
    """Return True if the spec must be kept as in the table. Without an annotation, that is a spec that was never
    changed.
    """
    if annotation in _TRUE or annotation in _FALSE:
        return annotation in _TRUE
    return generation == 1


def _unwanted(endpoint: Endpoint, specs: dict[str, Object]) -> Iterator[str]:
    """Yield the names of bootstrap objects that an older version created and this version no longer has."""
    cache = endpoint.store.cache
    for record in cache.readable():
        if record.name not in specs:
            annotations = decode(record.value)["metadata"].get("annotations") or {}
            if annotations.get(AUTO_UPDATE, "") in _TRUE:
                yield record.name


async def _remove(endpoint: Endpoint, name: str, clock: Clock) -> None:
    try:
        await delete(endpoint.store, _context(name), clock)
    except StatusError as error:
        if error.reason is not Reason.NOT_FOUND:
            raise


def _context(name: str) -> Context:
    return Context(user=_USER, groups=("system:masters",), namespace="", name=name)
