"""Metrics server: serves the usage of nodes and Pods as metrics.k8s.io/v1beta1, for `kubectl top` and autoscalers.

    python metrics_server.py [--kubeconfig FILE] [--port 4443] [--resolution 10]

It stores nothing. A loop reads `/metrics/resource` of every kubelet through the API server. CPU time counts from the
start of a container, so the current usage is the difference of two readings.
"""

import argparse
import asyncio
import datetime
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sampan.app.extension import ExtensionSettings, run_until_stopped, serve_extension
from sampan.client import ApiError, Client, TransportError, connect
from sampan.component_base.resources import NODES, PODS
from sampan.core.time import format_time
from sampan.server.extension.computed import ComputedResource

Object = dict[str, Any]
SAMPLE = re.compile(r"^(node|container)_(cpu_usage|memory_working)_\w+(?:\{(.*)\})? (\S+)(?: (\d+))?$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Key(NamedTuple):
    """Node, or container of a Pod."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""


class Reading(NamedTuple):
    """Usage at one time: seconds of CPU since the start, and bytes of memory."""

    time_s: float
    cpu_s: float
    memory: float


class Metrics:
    """Last two readings of all nodes and containers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.readings: dict[Key, tuple[Reading | None, Reading]] = {}

    async def scrape(self, every_s: float) -> None:
        """Read all kubelets periodically. A kubelet that does not respond is left out."""
        while True:
            listed = await self.client.resource(NODES).list()
            found = await asyncio.gather(*(self.read(node["metadata"]["name"]) for node in listed.items))
            new = {key: reading for each in found for key, reading in each.items()}
            self.readings = {key: (self.readings.get(key, (None, reading))[1], reading) for key, reading in new.items()}
            await asyncio.sleep(every_s)

    async def read(self, node: str) -> dict[Key, Reading]:
        """Read one kubelet."""
        try:
            async with asyncio.timeout(10):
                text = (await self.client.rest.call("GET", f"/api/v1/nodes/{node}/proxy/metrics/resource")).decode()
        except (ApiError, TransportError, TimeoutError):
            return {}
        values: dict[Key, dict[str, float]] = defaultdict(dict)
        for kind, name, labels, value, time_ms in SAMPLE.findall(text):
            found = dict(LABEL.findall(labels))
            key = Key("", found["namespace"], found["pod"], found["container"]) if kind == "container" else Key(node)
            values[key] |= {name: float(value), "time": float(time_ms or 0) / 1000}
        return {
            key: Reading(each["time"], each["cpu_usage"], each["memory_working"])
            for key, each in values.items()
            if len(each) == 3
        }

    def usages(self) -> Iterator[tuple[Key, Object]]:
        """Yield the current usage of everything with two readings."""
        for key, (before, now) in self.readings.items():
            if before is not None and now.time_s > before.time_s:
                cores = max(0.0, now.cpu_s - before.cpu_s) / (now.time_s - before.time_s)
                time = format_time(datetime.datetime.fromtimestamp(now.time_s, datetime.UTC))
                window = {"timestamp": time, "window": f"{now.time_s - before.time_s:.3f}s"}
                yield key, {**window, "usage": {"cpu": f"{cores * 1e9:.0f}n", "memory": f"{now.memory / 1024:.0f}Ki"}}

    async def nodes(self, namespace: str) -> Sequence[Object]:
        """Return NodeMetrics, with the labels of the nodes."""
        usages = {key.node: usage for key, usage in self.usages() if key.node}
        return [
            {"metadata": _metadata(node), **usages[name]} for node, name in await self.named(NODES) if name in usages
        ]

    async def pods(self, namespace: str) -> Sequence[Object]:
        """Return PodMetrics, with the labels of the Pods."""
        found: dict[tuple[str, str], list[tuple[str, Object]]] = defaultdict(list)
        for key, usage in self.usages():
            found[key.namespace, key.pod].append((key.container, usage))
        result = []
        for pod, name in await self.named(PODS, namespace):
            for containers in filter(None, [found.get((pod["metadata"]["namespace"], name))]):
                inner = [{"name": container, "usage": usage["usage"]} for container, usage in sorted(containers)]
                times = {each: containers[0][1][each] for each in ("timestamp", "window")}
                result.append({"metadata": _metadata(pod), **times, "containers": inner})
        return result

    async def named(self, resource: Any, namespace: str = "") -> list[tuple[Object, str]]:
        """Return objects from the API server with their names."""
        listed = await self.client.resource(resource, namespace=namespace).list()
        return [(obj, obj["metadata"]["name"]) for obj in listed.items]


def _metadata(obj: Object) -> Object:
    metadata = {name: obj["metadata"][name] for name in ("name", "namespace", "labels") if name in obj["metadata"]}
    return {**metadata, "creationTimestamp": format_time(datetime.datetime.now(datetime.UTC))}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig")
    parser.add_argument("--port", type=int, default=4443)
    parser.add_argument("--resolution", type=float, default=10.0, help="seconds between two readings")
    options = parser.parse_args()
    async with connect(options.kubeconfig) as client, asyncio.TaskGroup() as group:
        metrics = Metrics(client)
        resources = [
            ComputedResource("nodes", "NodeMetrics", metrics.nodes, namespaced=False),
            ComputedResource("pods", "PodMetrics", metrics.pods),
        ]
        group.create_task(metrics.scrape(options.resolution))
        settings = ExtensionSettings(port=options.port)
        announce = lambda port: print(f"ready https://127.0.0.1:{port}", flush=True)  # noqa: E731
        await serve_extension(client, ("metrics.k8s.io", "v1beta1"), resources, announce, settings)


if __name__ == "__main__":
    run_until_stopped(main())
