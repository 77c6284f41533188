"""`ResourceMetrics`: metrics.k8s.io/v1beta1, served by the API server itself.

This server has no APIService for it, so manifests and charts of metrics-server can create theirs. The aggregator then
proxies the group version before this code sees a request. After its deletion the metrics of this server are back.

Source: metrics-server pkg/api/{node,pod,table}.go, manifests/base (0.9); metrics pkg/apis/metrics/v1beta1 (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.core.numbers.quantity import Format, Quantity, parse
from sampan.core.object import Object
from sampan.core.time import Clock, format_duration, format_time, timestamp
from sampan.registry.cluster import Cluster
from sampan.registry.definition import Column
from sampan.registry.reader import CacheReader
from sampan.server.extension.computed import ComputedResource
from sampan.server.extension.verbs import computed_handler
from sampan.server.request import Handler, Request, Response
from sampan.server.resource_metrics.history import Usage, earliest
from sampan.server.resource_metrics.scraper import Scraper
from sampan.storage.records import Record

GROUP: Final = "metrics.k8s.io"
VERSION: Final = "v1beta1"
_SLICE: Final = 200
"""Number of objects that are made before other requests get their turn."""
_QUANTITIES: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_TIMES: Final[dict[str, Any]] = {
    "timestamp": {"type": "string", "format": "date-time", "description": "End of the window."},
    "window": {"type": "string", "description": "Length of the window in which the usage was measured."},
}
_NODE_SCHEMA: Final = {
    "type": "object",
    "description": "Usage of a node.",
    "properties": {**_TIMES, "usage": {**_QUANTITIES, "description": "Usage of cpu and memory."}},
}
_CONTAINER_SCHEMA: Final = {"type": "object", "properties": {"name": {"type": "string"}, "usage": _QUANTITIES}}
_POD_SCHEMA: Final = {
    "type": "object",
    "description": "Usage of a Pod's containers.",
    "properties": {**_TIMES, "containers": {"type": "array", "items": _CONTAINER_SCHEMA}},
}


def serving_metrics(handler: Handler, cluster: Cluster, scraper: Scraper) -> Handler:
    """Return a handler that serves metrics.k8s.io itself and passes other requests on. Add it to discovery."""
    resources = ResourceMetrics(cluster.reader, scraper, cluster.clock).resources()
    cluster.registry.add(*(each.definition(GROUP, VERSION) for each in resources))
    computed = computed_handler(GROUP, VERSION, resources)

    def handle(request: Request) -> Awaitable[Response]:
        return (computed if request.info.group == GROUP else handler)(request)

    return handle


class ResourceMetrics:
    """Computes NodeMetrics and PodMetrics from a scraper's history."""

    def __init__(self, reader: CacheReader, scraper: Scraper, clock: Clock) -> None:
        self._reader = reader
        self._scraper = scraper
        self._clock = clock

    def resources(self) -> tuple[ComputedResource, ...]:
        """Return both resources."""
        return (
            ComputedResource(
                "nodes",
                "NodeMetrics",
                self.list_nodes,
                namespaced=False,
                schema=_NODE_SCHEMA,
                columns=_columns(lambda obj, name: obj["usage"][name]),
                get=self.get_node,
            ),
            ComputedResource(
                "pods",
                "PodMetrics",
                self.list_pods,
                schema=_POD_SCHEMA,
                columns=_columns(_total),
                get=self.get_pod,
            ),
        )

    async def list_nodes(self, namespace: str) -> Sequence[Object]:
        """Return the nodes with metrics, by name."""
        await self._scraper.request()
        found = []
        for number, name in enumerate(self._scraper.history.nodes()):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            record = self._reader.record("", "nodes", "", name)
            made = None if record is None else self._node(record)
            if made is not None:
                found.append(made)
        return found

    async def get_node(self, namespace: str, name: str) -> Object:
        """Return the metrics of a node. **Raises** 404."""
        record = self._reader.record("", "nodes", "", name)
        if record is None:
            raise errors.not_found(GroupResource("", "nodes"), name)
        await self._scraper.request()
        made = self._node(record)
        if made is None:
            raise errors.not_found(GroupResource(GROUP, "nodes"), name)
        return made

    async def list_pods(self, namespace: str) -> Sequence[Object]:
        """Return the running Pods with metrics, by namespace and name."""
        await self._scraper.request()
        found = []
        for number, (place, name) in enumerate(self._scraper.history.pods(namespace)):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            record = self._reader.record("", "pods", place, name)
            made = None if record is None else self._pod(record)
            if made is not None:
                found.append(made)
        return found

    async def get_pod(self, namespace: str, name: str) -> Object:
        """Return the metrics of a Pod. **Raises** 404."""
        record = self._reader.record("", "pods", namespace, name)
        if record is None:
            raise errors.not_found(GroupResource("", "pods"), name)
        await self._scraper.request()
        made = self._pod(record)
        if made is None:
            raise errors.not_found(GroupResource(GROUP, "pods"), f"{namespace}/{name}")
        return made

    def _node(self, record: Record) -> Object | None:
        usage = self._scraper.history.of_node(record.name)
        return None if usage is None else {**self._head(record, usage), "usage": _shown(usage)}

    def _pod(self, record: Record) -> Object | None:
        if record.fields.get("status.phase") != "Running":
            return None
        node = record.fields.get("spec.nodeName", "")
        usages = self._scraper.history.of_pod(record.namespace, record.name, node)
        if usages is None:
            return None
        containers = [{"name": name, "usage": _shown(usage)} for name, usage in usages.items()]
        return {**self._head(record, earliest(usages.values())), "containers": containers}

    def _head(self, record: Record, usage: Usage) -> Object:
        metadata: Object = {"name": record.name}
        if record.namespace:
            metadata["namespace"] = record.namespace
        metadata["creationTimestamp"] = timestamp(self._clock)
        if record.labels:
            metadata["labels"] = record.labels
        window = format_duration(round(usage.window_s * 1000) * 1_000_000)
        return {"metadata": metadata, "timestamp": format_time(usage.end), "window": window}


def _shown(usage: Usage) -> dict[str, str]:
    """Return the quantities, in the form that Go prints."""
    memory = Quantity(usage.memory_bytes, 0, Format.BINARY_SI)
    return {"cpu": str(Quantity(usage.cpu_nanocores, -9)), "memory": str(memory)}


def _total(obj: Object, name: str) -> str:
    return str(sum((parse(each["usage"][name]) for each in obj["containers"]), Quantity(0)))


def _columns(value: Callable[[Object, str], str]) -> tuple[Column, ...]:
    return (
        Column("Name", "string", lambda obj: obj["metadata"]["name"], "name", "Name of the resource"),
        Column("cpu", "string", lambda obj: value(obj, "cpu"), "quantity"),
        Column("memory", "string", lambda obj: value(obj, "memory"), "quantity"),
        Column("Window", "string", lambda obj: obj["window"], "duration"),
    )
