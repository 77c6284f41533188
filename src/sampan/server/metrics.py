"""`ServerMetrics`: what the server measures, under the names that dashboards for Kubernetes know.

Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/storage/etcd3/metrics/metrics.go (1.36).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from sampan.server.histogram import Counter, Histogram
from sampan.server.request import Request, RequestInfo, Response

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
REQUEST_BUCKETS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
STORE_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_REQUEST_LABELS = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
_SERIES_MAX = 8192
_VERBS = {"create": "POST", "update": "PUT"}
_MUTATING = frozenset({"create", "update", "patch", "delete", "deletecollection", "post", "put"})

Labels = tuple[str, ...]


class ServerMetrics:
    """The metrics of one server. Everything but `exposition()` is called on the event loop."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "apiserver_request_total", "Requests answered, by what was asked and the code.", (*_REQUEST_LABELS, "code")
        )
        self.durations = Histogram(
            "apiserver_request_duration_seconds", "Time to answer a request.", _REQUEST_LABELS, REQUEST_BUCKETS
        )
        self.watch_events = Counter(
            "apiserver_watch_events_total", "Events sent to watchers.", ("group", "version", "resource")
        )
        self.store_requests = Histogram(
            "etcd_request_duration_seconds", "Time of the store's operations.", ("operation", "type"), STORE_BUCKETS
        )
        self.in_flight = {"mutating": 0, "readOnly": 0}
        self.long_running: dict[Labels, int] = {}
        self.storage_objects: Callable[[], Mapping[str, int]] = dict
        """Gives the number of objects by resource (`deployments.apps`)."""
        self.storage_size_bytes: Callable[[], int] = int
        for collector in (self.requests, self.durations, self.watch_events, self.store_requests, self):
            self.registry.register(collector)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def record(self, request: Request, response: Response, seconds: float) -> Labels:
        """Count one answer; gives the labels it was counted under."""
        labels = request_labels(request)
        key = (*labels, str(response.status))
        counts = self.requests.counts
        if key not in counts and len(counts) >= _SERIES_MAX:
            labels = ("other", "", "", "", "", "", "", "apiserver")
            key = (*labels, str(response.status))
        counts[key] = counts.get(key, 0) + 1
        if not request.long_running:
            self.durations.observe(labels, seconds)
        return labels

    def collect(self) -> Iterable[Metric]:
        """The gauges, for Prometheus."""
        in_flight = GaugeMetricFamily(
            "apiserver_current_inflight_requests", "Requests under way.", labels=["request_kind"]
        )
        for kind, count in self.in_flight.items():
            in_flight.add_metric([kind], count)
        yield in_flight
        long_running = GaugeMetricFamily(
            "apiserver_longrunning_requests", "Streams that are open.", labels=_REQUEST_LABELS
        )
        for labels, count in list(self.long_running.items()):
            long_running.add_metric(labels, count)
        yield long_running
        for name in ("apiserver_storage_objects", "apiserver_resource_objects"):
            objects = GaugeMetricFamily(name, "Stored objects, by resource.", labels=["resource"])
            for resource, count in self.storage_objects().items():
                objects.add_metric([resource], count)
            yield objects
        size = GaugeMetricFamily("apiserver_storage_size_bytes", "Size of the store.", labels=["storage_cluster_id"])
        size.add_metric(["0"], self.storage_size_bytes())
        yield size

    async def exposition(self) -> bytes:
        """All metrics as text; made in a thread."""
        return await asyncio.to_thread(generate_latest, self.registry)


def is_mutating(request: Request) -> bool:
    """Whether a request counts as a write."""
    return request.info.verb in _MUTATING


def request_labels(request: Request) -> Labels:
    """Under which labels a request is counted; non-resource requests by their first path segment."""
    info = request.info
    if not info.is_resource:
        first = info.path.split("/", 2)[1] if info.path.startswith("/") else ""
        return (request.method, "", "", "", "", f"/{first}"[:64], "", "apiserver")
    verb = info.verb
    if verb == "patch" and request.headers.get("content-type", "").startswith("application/apply-patch"):
        label = "APPLY"
    else:
        label = _VERBS.get(verb) or verb.upper()
    dry_run = "All" if "dryRun" in request.query else ""
    return (label, dry_run, info.group, info.version, info.resource, info.subresource, _scope(info), "apiserver")


def _scope(info: RequestInfo) -> str:
    if info.name:
        return "resource"
    return "namespace" if info.namespace else "cluster"
