"""The scheduler: speed of finding Nodes for Pods, alone and with a server in another process."""

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.load import Figure
from benchmarks.server import NO_LOOPS, running
from sampan.client.client import Client
from sampan.client.config import load_config
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PODS
from sampan.core.label_selectors import Selector, selector_from_labels
from sampan.core.time import SystemClock
from sampan.operator.manager import Manager
from sampan.resource import Object
from sampan.scheduler.algorithm import Algorithm
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.cache.columns import Columns
from sampan.scheduler.configuration import DEFAULT_PLUGINS
from sampan.scheduler.extender.extenders import Extenders
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.plugins.image_locality import ImageLocality
from sampan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from sampan.scheduler.plugins.node_affinity import NodeAffinity
from sampan.scheduler.plugins.node_name import NodeName
from sampan.scheduler.plugins.node_ports import NodePorts
from sampan.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from sampan.scheduler.plugins.node_resources_fit import NodeResourcesFit
from sampan.scheduler.plugins.node_unschedulable import NodeUnschedulable
from sampan.scheduler.plugins.pod_topology_spread import PodTopologySpread
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from sampan.scheduler.pod_info import PodInfo, read_pod
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.set_up import set_up
from sampan.scheduler.views import decode_node

FEW_NODES = 1000
MANY_NODES = 5000
_OBJECTS = 10_000
"""Number of objects for which the numbers of Nodes are valid. Fewer objects have proportionally fewer Nodes."""
_WRITERS = 32
_SEED = 1


class _Replicas:
    """Owner of all Pods: one ReplicaSet, or (`alone`) none."""

    def __init__(self, *, alone: bool) -> None:
        self._selector = Selector() if alone else selector_from_labels({"app": "web"})

    def selector_for(self, pod: PodInfo) -> Selector:
        """Return the selector of the Pods to spread."""
        return self._selector


_BARE_NODES = "--disable-admission-plugins=TaintNodesByCondition"
"""Option without which Nodes would keep a taint: no agent reports them as ready, as in Kubernetes' scheduler_perf."""


def measure_plain(count: int) -> Figure:
    """Measure plain Pods on 1,000 Nodes."""
    return asyncio.run(_measure(_scaled(FEW_NODES, count), count // 5, _Replicas(alone=True)))


def measure_many_nodes(count: int) -> Figure:
    """Measure plain Pods on 5,000 Nodes."""
    return asyncio.run(_measure(_scaled(MANY_NODES, count), count // 5, _Replicas(alone=True)))


def measure_replicas(count: int) -> Figure:
    """Measure replicas of one set, spread over zones and hosts, on 5,000 Nodes."""
    return asyncio.run(_measure(_scaled(MANY_NODES, count), count // 5, _Replicas(alone=False)))


def _scaled(nodes: int, count: int) -> int:
    return max(nodes * count // _OBJECTS, 10)


async def _measure(nodes: int, count: int, selectors: _Replicas) -> Figure:
    cache = Cache(time.monotonic)
    for number in range(nodes):
        cache.set_node(decode_node(msgspec.json.encode(_node(number))))
    plugins: list[Any] = [NodeUnschedulable(), NodeName(), TaintToleration(), NodeAffinity(), NodePorts()]
    plugins += [NodeResourcesFit(), PodTopologySpread(selectors), InterPodAffinity(), NodeResourcesBalancedAllocation()]
    framework = Framework([*plugins, ImageLocality()], DEFAULT_PLUGINS)
    algorithm = Algorithm(Nominator(), Extenders(), random.Random(_SEED))
    columns = Columns()
    raw = [msgspec.json.encode(_pod(number)) for number in range(count)]
    began = time.perf_counter()
    for body in raw:
        pod = read_pod(body)
        cache.assume(pod.on(await algorithm.choose(framework, Cycle(pod, cache, columns))))
    took_s = time.perf_counter() - began
    return Figure(count / took_s, count, note=f"{nodes:,} nodes, {took_s / count * 1e6:.0f} µs a Pod")


def measure_bound(count: int) -> Figure:
    """Measure the Pods bound a second, by a scheduler that starts when all Pods and 1,000 Nodes exist."""
    return _measure_served(_scaled(FEW_NODES, count), count * 3 // 10)


def measure_bound_many_nodes(count: int) -> Figure:
    """Measure the same with 5,000 Nodes."""
    return _measure_served(_scaled(MANY_NODES, count), count * 3 // 10)


def _measure_served(nodes: int, count: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="sampan-bench-") as directory:
        data = Path(directory)
        with running(data, *NO_LOOPS, _BARE_NODES):
            return asyncio.run(_measure_bound(data / "kubeconfig", nodes, count))


async def _measure_bound(kubeconfig: Path, nodes: int, count: int) -> Figure:
    async with Client.from_config(load_config(kubeconfig, environ={})) as client:
        await _create(client, [(NODES, _node(number)) for number in range(nodes)])
        await _create(client, [(PODS, _pod(number)) for number in range(count)])
        manager = Manager(client)
        set_up(ControllerContext(manager, SystemClock()))
        began = time.perf_counter(), time.process_time()
        running_manager = asyncio.create_task(manager.run())
        bound = 0
        async for event in client.resource(PODS).follow():
            bound += "nodeName" in event.object["spec"]
            if bound == count:
                break
        wall_s, cpu_s = time.perf_counter() - began[0], time.process_time() - began[1]
        manager.stop()
        await running_manager
    note = f"{nodes:,} nodes, {count:,} Pods, {cpu_s / count * 1e6:.0f} µs of CPU each here"
    return Figure(count / wall_s, count, note=note)


async def _create(client: Client, objects: list[tuple[Any, Any]]) -> None:
    waiting = iter(objects)

    async def write() -> None:
        for kind, obj in waiting:
            await client.resource(kind).create({"apiVersion": "v1", "kind": kind.kind, **obj})
            if kind is NODES:
                await client.resource(kind).status.update(obj["metadata"]["name"], obj)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(_WRITERS):
            tasks.create_task(write())


def _node(number: int) -> Object:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    resources = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": resources, "capacity": resources}}


def _pod(number: int) -> Object:
    metadata = {"name": f"web-{number}", "namespace": "default", "uid": f"uid-{number}", "labels": {"app": "web"}}
    resources = {"requests": {"cpu": "100m", "memory": "128Mi"}}
    container = {"name": "web", "image": "registry.example.com/web:1", "resources": resources}
    return {"metadata": metadata, "spec": {"containers": [container]}}
