"""Restore the bootstrap policy at each start: create missing objects and add missing rules.

Additions by users are kept. An object with the annotation autoupdate=false is not changed. Two migrations of Kubernetes
before 1.15 are left out, because no cluster here is that old: rules into aggregated roles, and the split of
system:discovery.
Source: kubernetes pkg/registry/rbac/rest/storage_rbac.go, component-helpers auth/rbac/reconciliation (1.36).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.policy_rules import uncovered
from sampan.core.time import Clock
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import fill_system_fields
from sampan.registry.strategy import Context
from sampan.registry.write.own import delete, update
from sampan.server.authorization.bootstrap_policy.bindings import RBAC_GROUP
from sampan.server.authorization.bootstrap_policy.objects import (
    AUTO_UPDATE,
    cluster_role_bindings,
    cluster_roles,
    role_bindings,
    roles,
)
from sampan.storage.encoding import decode, encode
from sampan.storage.store import KeyExists

_USER = "system:apiserver"
_RESOURCES = {
    "clusterroles": cluster_roles,
    "roles": roles,
    "clusterrolebindings": cluster_role_bindings,
    "rolebindings": role_bindings,
}


async def ensure_policy(
    endpoint_of: Callable[[str, str, str], Endpoint | None], clock: Clock, more: Sequence[Object] = ()
) -> None:
    """Create or restore all objects, and `more` ClusterRoles. `endpoint_of` finds an endpoint by group, version and
    resource.
    """
    async with asyncio.TaskGroup() as group:
        for resource, objects in _RESOURCES.items():
            endpoint = endpoint_of(RBAC_GROUP, "v1", resource)
            assert endpoint is not None
            expected_objects = [*objects(), *(more if resource == "clusterroles" else ())]
            for expected, existing in _outstanding(endpoint, expected_objects):
                group.create_task(_ensure(endpoint, expected, existing, clock))


def _outstanding(endpoint: Endpoint, objects: Iterable[Object]) -> Iterable[tuple[Object, Object | None]]:
    """Yield the objects that must be written, each with its current state (None if it does not exist)."""
    store = endpoint.store
    store.cache.poll()
    for expected in objects:
        metadata = expected["metadata"]
        record = store.cache.get(store.key(metadata.get("namespace", ""), metadata["name"]))
        if record is None:
            yield expected, None
            continue
        existing = decode(record.value)
        if _annotations(existing).get(AUTO_UPDATE) != "false" and not same(merged(existing, expected), existing):
            yield expected, existing


async def _ensure(endpoint: Endpoint, expected: Object, existing: Object | None, clock: Clock) -> None:
    if existing is None:
        await _create(endpoint, expected, clock)
    elif existing.get("roleRef") != expected.get("roleRef"):
        # The role of a binding is immutable.
        metadata = existing["metadata"]
        ctx = _context(existing)
        await delete(endpoint.store, ctx, clock, uid=metadata["uid"])
        await _create(endpoint, expected, clock)
    else:
        await update(endpoint.store, _context(existing), lambda obj, old: merged(obj, expected), clock)


async def _create(endpoint: Endpoint, expected: Object, clock: Clock) -> None:
    """Write directly to the store. These many objects are known to be valid and need no validation."""
    store, metadata = endpoint.store, expected["metadata"]
    fill_system_fields(metadata, clock)
    try:
        await store.store.create(store.key(metadata.get("namespace", ""), metadata["name"]), encode(expected))
    except KeyExists:
        pass  # Another server created it first; the next start compares it.


def merged(existing: Object, expected: Object) -> Object:
    """Return a copy of the current object with all expected fields, labels and rules."""
    result = dict(existing)
    metadata = result["metadata"] = dict(existing["metadata"])
    for name in ("labels", "annotations"):
        metadata[name] = {**expected["metadata"][name], **(metadata.get(name) or {})}
    if "roleRef" in expected:
        result["roleRef"] = expected["roleRef"]
        present = existing.get("subjects") or []
        _extend(result, "subjects", [each for each in expected.get("subjects") or () if each not in present])
        return result
    present = existing.get("rules") or []
    missing = [rule for rule in expected.get("rules") or () if rule not in present]
    _extend(result, "rules", uncovered(present, missing))
    _merge_aggregation(result, existing, expected)
    return result


def _merge_aggregation(result: Object, existing: Object, expected: Object) -> None:
    if "aggregationRule" not in expected:
        result.pop("aggregationRule", None)
        return
    rule = dict(existing.get("aggregationRule") or {})
    present = rule.get("clusterRoleSelectors") or []
    desired = expected["aggregationRule"]["clusterRoleSelectors"]
    _extend(rule, "clusterRoleSelectors", [each for each in desired if each not in present])
    result["aggregationRule"] = rule


def _extend(obj: Object, name: str, more: Sequence[object]) -> None:
    if more:
        obj[name] = [*(obj.get(name) or ()), *more]


def _annotations(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}


def _context(obj: Object) -> Context:
    metadata = obj["metadata"]
    return Context(
        user=_USER,
        groups=("system:masters",),
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
    )
