"""The chain from a Deployment to its Pods: a server and its loops, as `sampan up` runs them, and a watch that counts.

With 10,000 objects: 2,000 replicas on 1,000 nodes. These are Node objects without an agent, or simulated nodes that run
the Pods. The measurement starts when the nodes accept Pods, so it does not include the registration of nodes.
kube-apiserver, kube-controller-manager and kube-scheduler reach 315 Pods/s, with all Pods bound after 10.7 s.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from benchmarks.load import Figure
from benchmarks.server import running
from sampan.client import Client, MergePatch, connect
from sampan.component_base.resources import DEPLOYMENTS, NODES, PODS

_AT_ONCE = 50
_TIMEOUT_S = 120.0
_SETTLE_S = 3.0
_CAPACITY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
_LABELS = {"app": "chain"}


def measure_created(count: int) -> Figure:
    """Measure the Pods a second until all replicas are created."""
    return _measure(count, lambda pod: True)


def measure_bound(count: int) -> Figure:
    """Measure the Pods a second until all replicas have a node."""
    return _measure(count, lambda pod: bool(pod["spec"].get("nodeName")))


def measure_ready(count: int) -> Figure:
    """Measure the Pods a second until all replicas are ready on simulated nodes."""
    return _measure(count, _is_ready, simulated=True)


def _is_ready(pod: Any) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _measure(count: int, holds: Callable[[Any], bool], *, simulated: bool = False) -> Figure:
    replicas, nodes = max(1, count // 5), max(1, count // 10)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with running(data, f"--nodes={nodes if simulated else 0}"):
            seconds = asyncio.run(_run(data, replicas, nodes, holds, simulated=simulated))
    return Figure(round(replicas / seconds), replicas, note=f"{replicas} in {seconds:.1f} s")


async def _run(data: Path, replicas: int, nodes: int, holds: Callable[[Any], bool], *, simulated: bool) -> float:
    """Return the seconds from the Deployment's creation until `holds` is true for all Pods. The nodes exist before."""
    async with connect(data / "kubeconfig", field_manager="benchmark") as client:
        for first in range(0, 0 if simulated else nodes, _AT_ONCE):
            last = min(nodes, first + _AT_ONCE)
            await asyncio.gather(*(_node(client, f"node-{number:05}") for number in range(first, last)))
        await _nodes_take_pods(client, nodes)
        await asyncio.sleep(_SETTLE_S)
        began = time.monotonic()
        await client.resource(DEPLOYMENTS).create(_deployment(replicas))
        done: set[str] = set()
        async with asyncio.timeout(_TIMEOUT_S), aclosing(client.resource(PODS).follow()) as events:
            async for event in events:
                if holds(event.object):
                    done.add(event.object["metadata"]["name"])
                if len(done) == replicas:
                    break
        return time.monotonic() - began


async def _nodes_take_pods(client: Client, nodes: int) -> None:
    """Wait until this number of Nodes has no taints."""
    ready: set[str] = set()
    async with asyncio.timeout(_TIMEOUT_S), aclosing(client.resource(NODES).follow()) as events:
        async for event in events:
            spec = event.object.get("spec") or {}
            if not spec.get("taints"):
                ready.add(event.object["metadata"]["name"])
            if len(ready) == nodes:
                return


async def _node(client: Client, name: str) -> None:
    nodes = client.resource(NODES)
    labels = {"kubernetes.io/hostname": name}
    await nodes.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
    ready = {"type": "Ready", "status": "True", "reason": "Bare", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"capacity": _CAPACITY, "allocatable": _CAPACITY, "conditions": [ready]}
    await nodes.status.patch(name, MergePatch({"status": status}))


def _deployment(replicas: int) -> Any:
    requests = {"cpu": "100m", "memory": "64Mi"}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chain"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": {"containers": [container]}},
        },
    }
