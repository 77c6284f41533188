"""`ManyRelations`: the simulated Pods of a namespace, each with five relations, for measurements of the graph."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from sampan.server.request import Request, Response
from tests.dashboard.relations import owned_by
from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer

NAMESPACE: Final = "many"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
GRAPH: Final = f"object/core/v1/services/{NAMESPACE}/hub?tab=relations&view=graph"
TREE: Final = f"object/apps/v1/deployments/{NAMESPACE}/hub?tab=relations"
_REPLICA_SETS: Final = 10
_NODES: Final = 4
_COLUMNS: Final = [
    {"name": name, "type": "string", "format": "name" if name == "Name" else "", "description": "", "priority": 0}
    for name in ("Name", "Ready", "Status", "Restarts", "Age")
]
_STATES: Final = (*["Running"] * 18, "Pending", "CrashLoopBackOff")


class ManyRelations:
    """Answer for the path of the Pods. A Service selects them, ReplicaSets own them; they use Nodes and two objects."""

    def __init__(self, server: DashboardServer, count: int) -> None:
        self.count = count
        self.added: list[dict[str, Any]] = []
        """Rows that the watch sends."""
        server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        base = f"/api/v1/namespaces/{NAMESPACE}"
        service = {"metadata": {"name": "hub"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
        server.create(f"{base}/services", service)
        server.create(f"{base}/configmaps", {"metadata": {"name": "settings"}})
        server.create("/api/v1/nodes", *({"metadata": {"name": f"hub-{i}"}} for i in range(_NODES)))
        server.create(f"{base}/serviceaccounts", {"metadata": {"name": "runner"}})
        apps = f"/apis/apps/v1/namespaces/{NAMESPACE}"
        [owner] = server.create(f"{apps}/deployments", deployment("hub"))
        self._owners = server.create(f"{apps}/replicasets", *self._replica_sets(owned_by(owner)))

    def row(self, i: int) -> dict[str, Any]:
        """Return the row of a Pod with the whole object."""
        state = _STATES[i % len(_STATES)]
        owner = self._owners[i % _REPLICA_SETS]["metadata"]
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner["name"], "uid": owner["uid"]}
        metadata = {
            "name": f"web-{i:05d}",
            "namespace": NAMESPACE,
            "uid": f"00000000-0000-0000-0001-{i:012d}",
            "resourceVersion": str(i + 1),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "web"},
            "ownerReferences": [{**reference, "controller": True}],
        }
        main = {"name": "main", "image": "web:1", "envFrom": [{"configMapRef": {"name": "settings"}}]}
        spec = {"nodeName": f"hub-{i % _NODES}", "serviceAccountName": "runner", "containers": [main]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        ready = "1/1" if state == "Running" else "0/1"
        return {"cells": [metadata["name"], ready, state, "0", "5d"], "object": pod}

    def response(self, request: Request) -> Response:
        """Return a page, or the watch."""
        if request.wire.param("watch") == "1":
            return Response(200, stream=self._events())
        start = int(request.wire.param("continue") or 0)
        end = min(self.count, start + int(request.wire.param("limit") or self.count))
        metadata = {"resourceVersion": "1000000", **({"continue": str(end)} if end < self.count else {})}
        return Response(200, json.dumps(_table([self.row(i) for i in range(start, end)], metadata)).encode())

    async def _events(self) -> AsyncIterator[bytes]:
        """Yield the added rows."""
        sent = 0
        while True:
            for row in self.added[sent:]:
                sent += 1
                event = {"type": "ADDED", "object": _table([row], {"resourceVersion": str(1_000_000 + sent)})}
                yield json.dumps(event).encode() + b"\n"
            await asyncio.sleep(0.05)

    def _replica_sets(self, owner: dict[str, Any]) -> list[dict[str, Any]]:
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        about = {"labels": labels, "ownerReferences": [owner]}
        return [{"metadata": {"name": f"web-{i}", **about}, "spec": spec} for i in range(_REPLICA_SETS)]


def _table(rows: list[dict[str, Any]], metadata: dict[str, Any]) -> dict[str, Any]:
    about = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    return {**about, "columnDefinitions": _COLUMNS, "rows": rows}
