"""Families of all metrics, by the programs and paths that serve them. Each collector is made with nothing to count."""

import asyncio
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, Protocol, cast

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from scripts.site.reference.server import logical_server

from sampan.client.transports.request_counts import RequestCounts
from sampan.component_base.context import ControllerContext
from sampan.controllers.garbage_collector.garbage_collector import GarbageCollector
from sampan.node.server.cadvisor import cadvisor_metrics
from sampan.node.server.hosted import HostedPod
from sampan.node.server.server import VolumeCollector
from sampan.node.server.usage import ContainerUsage, PodUsage, resource_metrics
from sampan.node.sessions import ContainerStats, InterfaceUsage
from sampan.operator.clusters import Clusters, ListedClusters
from sampan.operator.leader_election.metrics import LeaderElectionMetrics
from sampan.operator.manager import Manager
from sampan.operator.manager.client_metrics import ClientCollector
from sampan.operator.process.loop_delays import OperatorLoopWatch
from sampan.operator.webhook.metrics import WebhookMetrics
from sampan.scheduler.metrics import SchedulerCollector, SchedulerMetrics
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.server.metrics.encryption import EncryptionMetrics, Reloads
from sampan.server.tls.expirations import CertificateExpirations
from sampan.service_proxy.metrics import ProxyMetrics
from sampan.storage.encryption.measures import EncryptionMeasures
from sampan.testing import Cluster

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_HIDDEN_LABELS: Final = frozenset({"le", "quantile"})


class Collector(Protocol):
    """Source of metric families."""

    def collect(self) -> Iterable[Metric]: ...


@dataclass(frozen=True, slots=True)
class Family:
    """A metric family."""

    name: str
    """Name as in queries. That of a histogram has the suffixes `_bucket`, `_sum` and `_count`."""
    kind: str
    """counter, gauge, histogram or summary."""
    labels: tuple[str, ...]
    text: str


def families() -> Mapping[str, list[Family]]:
    """Return the families of each source, sorted by name. A source is the title of a section."""
    return asyncio.run(_families())


async def _families() -> Mapping[str, list[Family]]:
    """Build the sources. Some collectors need an event loop."""
    operator = _operator()
    common = {each.name for each in _read(operator)}
    return {
        "API server": _read(_server()),
        "API server: /metrics/slis": _read(logical_server().api.health.metrics),
        "Control loops and operators": _read(operator),
        "Webhooks of an operator": [each for each in _read(_webhooks()) if each.name not in common],
        "Garbage collector": [each for each in _read(_garbage_collector()) if each.name not in common],
        "Scheduler": _read(_scheduler()),
        "Service proxy": _read(_proxy()),
        "Node": _read(_node()),
        "Node: /metrics/resource": _parsed(resource_metrics([_pod_usage()], _usage(), _EPOCH)),
        "Node: /metrics/cadvisor": _parsed(cadvisor_metrics([_pod_usage()], _usage())),
    }


def _server() -> Collector:
    registry = logical_server().api.metrics.registry
    encryption = EncryptionMetrics(EncryptionMeasures(), Reloads(), tuple, "")
    return _Together(registry, encryption, CertificateExpirations(tuple, tuple))


def _operator() -> CollectorRegistry:
    manager = Manager(Cluster().admin())
    if manager.client.direct.counts is None:
        ClientCollector(manager.registry, RequestCounts(""))
    LeaderElectionMetrics(manager.registry)
    OperatorLoopWatch(manager.registry)
    Clusters(manager, ListedClusters({}))
    return manager.registry


def _webhooks() -> CollectorRegistry:
    registry = CollectorRegistry()
    WebhookMetrics(registry)
    return registry


def _garbage_collector() -> CollectorRegistry:
    manager = Manager(Cluster().admin())
    GarbageCollector(ControllerContext(manager, Cluster().clock))
    return manager.registry


def _scheduler() -> CollectorRegistry:
    registry = CollectorRegistry()
    queue = SchedulingQueue(lambda pod: "", lambda pod: {})
    SchedulerCollector(registry, SchedulerMetrics(), queue, dict)
    return registry


def _proxy() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProxyMetrics(registry)
    return registry


def _node() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    fields = ("capacityBytes", "availableBytes", "usedBytes", "inodes", "inodesFree", "inodesUsed")
    claim: dict[str, Any] = {"pvcRef": {"namespace": "", "name": ""}, **dict.fromkeys(fields, 0)}
    VolumeCollector(registry, lambda: [_hosted()], lambda uid: [claim])
    return registry


def _usage() -> ContainerStats:
    return ContainerStats(0.0, 0, rss_bytes=0, total_memory_bytes=0)


def _hosted() -> HostedPod:
    metadata = SimpleNamespace(namespace="", name="", uid="")
    pod = SimpleNamespace(metadata=metadata, spec=SimpleNamespace(init_containers=(), containers=()))
    runtime = SimpleNamespace(containers=lambda uid: {})
    return HostedPod(cast(Any, pod), cast(Any, runtime))


def _pod_usage() -> PodUsage:
    container = ContainerUsage("c", _usage(), _EPOCH)
    return PodUsage(_hosted(), (container,), (InterfaceUsage("eth0", 0, 0, 0, 0),))


class _Together:
    """Several sources as one."""

    def __init__(self, *sources: Collector) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Metric]:
        """Yield the families of all sources."""
        for source in self._sources:
            yield from source.collect()


def _read(source: Any) -> list[Family]:
    """Return the families of a registry or collector. A family may come in several parts."""
    labels_of = _labels_by_instrument(source)
    found: dict[str, Family] = {}
    for metric in source.collect():
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        kind = "counter" if metric.type == "unknown" else metric.type
        labels = labels_of.get(metric.name) or _labels(metric)
        if name not in found or len(labels) > len(found[name].labels):
            found[name] = Family(name, kind, labels, " ".join(metric.documentation.split()).removesuffix("."))
    return sorted(found.values(), key=lambda each: each.name)


def _labels_by_instrument(source: Any) -> dict[str, tuple[str, ...]]:
    """Return the labels of the registered instruments: their families have none before the first value."""
    instruments = list(getattr(source, "_collector_to_names", ()))
    return {each._name: each._labelnames for each in instruments if hasattr(each, "_labelnames")}


def _labels(metric: Metric) -> tuple[str, ...]:
    named = tuple(getattr(metric, "_labelnames", ()))
    used = dict.fromkeys(label for sample in metric.samples for label in sample.labels)
    return named or tuple(label for label in used if label not in _HIDDEN_LABELS)


def _parsed(text: bytes) -> list[Family]:
    return _read(SimpleNamespace(collect=lambda: text_string_to_metric_families(text.decode())))
