"""RBAC: authorization of a user with 50 bindings, half of them through a group. 10,000 objects have 5,000 bindings."""

import asyncio
import statistics
import time
from collections.abc import Callable

from benchmarks.load import Figure
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RBAC_GROUP, RbacIndex
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.encoding import encode
from sampan.storage.memory import MemoryStore

_ROLES = 100
_REQUESTS = 300
_BOUND = 50
_USER = UserInfo("user-0", groups=("group-0", "system:authenticated"))
_RULES = [
    {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods", "services"]},
    {"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"]},
    {"verbs": ["update"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["settings"]},
]


def measure_known(count: int) -> Figure:
    """Measure the microseconds of authorizing a request whose kind was authorized before."""
    return asyncio.run(_measure(count, lambda number: "nodes", changes=False))


def measure_new(count: int) -> Figure:
    """Measure the microseconds of authorizing a request whose kind was not authorized before."""
    return asyncio.run(_measure(count, lambda number: f"kind-{number}", changes=False))


def measure_changed(count: int) -> Figure:
    """Measure the microseconds of the first request after a change of another user's rights, with the index update."""
    return asyncio.run(_measure(count, lambda number: "nodes", changes=True))


async def _measure(count: int, resource: Callable[[int], str], *, changes: bool) -> Figure:
    """Return the median of requests that are refused, because a refusal must check all rules."""
    cluster, started = Cluster(MemoryStore()), asyncio.Event()
    running = asyncio.create_task(cluster.run(started.set))
    await started.wait()
    try:
        bindings = max(count // 2, 2 * _BOUND)
        await _fill(cluster, bindings)
        authorizer = RbacAuthorizer(RbacIndex(cluster.reader))
        took, errors = [], 0
        for number in range(-1, _REQUESTS):
            if changes:
                await _put(cluster, "clusterrolebindings", _binding(f"more-{number}", number, "User", "somebody"))
                cluster.reader.records(RBAC_GROUP, "clusterrolebindings")  # what is written is taken in by its writer
            info = RequestInfo("", "get", True, "", "v1", "default", resource(number))
            began = time.perf_counter()
            verdict = await authorizer.authorize(_USER, info)
            took.append(time.perf_counter() - began)
            errors += verdict.decision is not Decision.NO_OPINION
    finally:
        running.cancel()
    return Figure(
        statistics.median(took[1:]) * 1e6, _REQUESTS, errors=errors, note=f"{_BOUND} of {bindings:,} bindings"
    )


async def _fill(cluster: Cluster, bindings: int) -> None:
    for number in range(_ROLES):
        await _put(
            cluster, "clusterroles", {"kind": "ClusterRole", "metadata": {"name": f"r{number}"}, "rules": _RULES}
        )
    for number in range(bindings):
        kind = "User" if number % 2 else "Group"
        bound = _binding(f"b{number:05}", number, kind, f"{kind.lower()}-{number // _BOUND}")
        await _put(cluster, "clusterrolebindings", bound)


def _binding(name: str, role: int, kind: str, subject: str) -> Object:
    return {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": f"r{role % _ROLES}"},
        "subjects": [{"apiGroup": RBAC_GROUP, "kind": kind, "name": subject}],
    }


async def _put(cluster: Cluster, resource: str, obj: Object) -> None:
    endpoint = cluster.endpoint(RBAC_GROUP, "v1", resource)
    assert endpoint is not None
    store, metadata = endpoint.store, obj["metadata"]
    await store.store.create(store.key("", metadata["name"]), encode({**obj, "metadata": {**metadata, "uid": "u"}}))
