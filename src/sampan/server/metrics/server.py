"""`ServerMetrics`: metrics of the API server, under the names that Kubernetes dashboards use.

Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/storage/etcd3/metrics/metrics.go (1.36).
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from sampan.core.gvk import GroupResource
from sampan.registry.store_measures import BUCKETS as REQUEST_BUCKETS
from sampan.registry.store_measures import StoreMeasures
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.authorization.authorizer import DecisionCounting
from sampan.server.connections.handshakes import Handshakes
from sampan.server.connections.unread import UnreadBytes
from sampan.server.instruments.histogram import Counter, Histogram, cumulative
from sampan.server.instruments.removed_resources import Resources, drop, forget_series
from sampan.server.metrics.access import AccessMetrics
from sampan.server.metrics.caches import CacheMetrics
from sampan.server.metrics.certificates import CertificateMetrics
from sampan.server.metrics.features import FEATURES
from sampan.server.metrics.process import ProcessMetrics
from sampan.server.metrics.request_details import RequestDetails
from sampan.server.metrics.request_labels import Labels, is_sized, labels_by_target, labels_of_refused, request_labels
from sampan.server.metrics.unread import unread_families
from sampan.server.metrics.watches import WatchMetrics
from sampan.server.request import NOT_COUNTED, OWN, Request
from sampan.server.routes.version import version_info
from sampan.storage.cache import WatchCache

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SIZE_BUCKETS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
_SLI_FROM = REQUEST_BUCKETS.index(0.05)
"""Index of the first bucket of the SLI."""
_NOT_OURS = frozenset({"apf-queue-wait", "mutating-webhook", "validating-webhook"})
"""Latencies that the SLI excludes: the request waited for another component."""
_SIZES = len(REQUEST_BUCKETS) + 3
_SERIES_LENGTH = _SIZES + len(SIZE_BUCKETS) + 2
_READS = frozenset({"get", "list"})
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_TOO_MANY = 429
_REQUEST_LABELS = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
_SLI_LABELS = ("verb", "group", "version", "resource", "subresource", "scope", "component")
_CODE_LABELS = (*_REQUEST_LABELS, "code")
_BUILD_LABELS = {
    "major": "major", "minor": "minor", "gitVersion": "git_version", "gitCommit": "git_commit",
    "gitTreeState": "git_tree_state", "buildDate": "build_date", "goVersion": "go_version", "compiler": "compiler",
    "platform": "platform",
}  # fmt: skip
_SERIES_MAX = 8192
_OTHER = ("other", "", "", "", "", "", "", "apiserver", "0")
_MUTATING = frozenset({"create", "update", "patch", "delete", "deletecollection", "post", "put"})


class ServerMetrics:
    """Metrics of one server. Call everything except `exposition()` on the event loop."""

    def __init__(
        self,
        in_flight: Callable[[], Iterable[Request]] = tuple,
        *,
        store: StoreMeasures | None = None,
        deciding: Sequence[DecisionCounting] = (),
        caches: Callable[[], Mapping[GroupResource, WatchCache]] = dict,
        unread: UnreadBytes | None = None,
    ) -> None:
        """`in_flight` returns the requests in progress, `caches` the watch cache of each resource.

        `deciding`: authorizers that count their decisions.
        """
        store = store or StoreMeasures()
        self.registry = CollectorRegistry()
        self._requests: dict[Labels, list[float]] = {}
        """By labels with the code: count, sum of seconds and buckets, sum of bytes and buckets."""
        self._watches: set[Labels] = set()
        """Labels of requests without an SLI: the client determines their duration."""
        self._elsewhere: dict[Labels, list[float]] = {}
        """By labels: differences between the SLI and the durations, for the sum and each bucket."""
        self._series: dict[tuple[str, str, str, str, str, str, int], list[float]] = {}
        self._removed = [0.0] * _SERIES_LENGTH
        """Sums of the dropped series, without watches."""
        self.watches = WatchMetrics()
        self._store_requests = Histogram.of(
            store.requests,
            "etcd_request_duration_seconds",
            "Duration of the operations of the store.",
            ("operation", "group", "resource"),
        )
        self._store_errors = Counter.of(
            store.errors,
            "etcd_request_errors_total",
            "Failed operations of the store.",
            self._store_requests.labels,
        )
        self.details = RequestDetails()
        self._in_flight = in_flight
        self.long_running: dict[Labels, int] = {}
        self.handshakes, self.unread = Handshakes(), unread or UnreadBytes()
        self._objects: Mapping[GroupResource, int] = {}
        self._size_bytes = 0
        self.admission, self.certificates = AdmissionMetrics(), CertificateMetrics()
        self.access = AccessMetrics(deciding)
        self.deprecated: set[tuple[str, str, str, str]] = set()
        """Group, version, resource and subresource of each requested deprecated version."""
        self.caches = CacheMetrics(caches)
        self._process = ProcessMetrics()
        self._register()

    def _register(self) -> None:
        parts = (self.admission, self.certificates, self.access, self.caches)
        for collector in (self.watches, self._store_requests, self._store_errors, self.details, *parts, self):
            self.registry.register(collector)
        ProcessCollector(registry=self.registry)
        self.registry.register(self._process)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def record(self, request: Request, status: int, seconds: float, size_bytes: int = 0) -> None:
        """Record count, duration and size of a response.

        Requests are counted if they were served, or refused because of overload. The series is found by the parts of
        its labels, so a repeated request does not build them.
        """
        if request.terminated:
            self._terminated(request, status)
        if request.counted is NOT_COUNTED:
            return
        info = request.info
        scope = "resource" if info.name or info.verb == "create" else "namespace" if info.namespace else "cluster"
        key = (info.verb, info.group, info.version, info.resource, info.subresource, scope, status)
        plain = info.is_resource and not request.wire.query and info.verb != "patch"
        series = self._series.get(key) if plain else None
        if series is None:
            series = self._find(request, status)
            if plain:
                self._series[key] = series
        series[0] += 1
        if request.body_size_bytes >= 0:
            self.details.body(request)
        series[1] += seconds
        series[bisect_left(REQUEST_BUCKETS, seconds) + 2] += 1
        if not _NOT_OURS.isdisjoint(request.latencies):
            self._leave_out(request, seconds)
        if not plain and "fieldValidation" in request.wire.query:
            self.details.validated(request.wire.query["fieldValidation"], seconds)
        if (info.verb in _READS and not info.subresource) or (info.verb not in _WRITES and is_sized(request)):
            series[_SIZES] += size_bytes
            series[_SIZES + 1 + bisect_left(SIZE_BUCKETS, size_bytes)] += 1

    def forget(self, removed: Resources) -> None:
        """Drop the series of removed resources, except those of open streams."""
        group, resource = _REQUEST_LABELS.index("group"), _REQUEST_LABELS.index("resource")
        for key, series in drop(self._requests, removed, group, resource).items():
            if key[:-1] not in self._watches:
                self._removed = [a + b for a, b in zip(self._removed, series, strict=True)]
        drop(self._elsewhere, removed, group, resource)
        drop(self._series, removed, group - 1, resource - 1)
        self._watches -= {key for key in self._watches if (key[group], key[resource]) in removed}
        streams = drop(self.long_running, removed, group, resource)
        self.long_running |= {labels: count for labels, count in streams.items() if count}
        forget_series(self._store_requests, removed)
        forget_series(self._store_errors, removed)
        self.watches.forget(removed)
        self.details.forget(removed)

    def _terminated(self, request: Request, status: int) -> None:
        self.details.terminated(request, labels_by_target(request), status)
        if status == _TOO_MANY and request.component == OWN:
            self._series_of((*labels_of_refused(request), str(status)))[0] += 1

    def _leave_out(self, request: Request, seconds: float) -> None:
        """Exclude the time of other components from the SLI."""
        elsewhere = sum(request.latencies.get(name, 0.0) for name in _NOT_OURS)
        more = self._elsewhere.setdefault(request_labels(request), [0.0] * (len(REQUEST_BUCKETS) + 2))
        more[0] -= elsewhere
        more[bisect_left(REQUEST_BUCKETS, seconds) + 1] -= 1
        more[bisect_left(REQUEST_BUCKETS, seconds - elsewhere) + 1] += 1

    def _find(self, request: Request, status: int) -> list[float]:
        key = (*request_labels(request), str(status))
        if request.info.verb == "watch" and key not in self._requests:
            self._watches.add(key[:-1])
        return self._series_of(key)

    def _series_of(self, key: Labels) -> list[float]:
        """Return the series with these labels. Beyond `_SERIES_MAX`, all new ones share one series."""
        series = self._requests.get(key)
        if series is None:
            if len(self._requests) >= _SERIES_MAX:
                key = _OTHER
            series = self._requests.setdefault(key, [0.0] * _SERIES_LENGTH)
        return series

    def _collect_requests(self) -> Iterable[Metric]:
        total = CounterMetricFamily(
            "apiserver_request_total", "Answered requests, by verb, resource and status code.", labels=_CODE_LABELS
        )
        sums: dict[Labels, list[float]] = {}
        for key, series in list(self._requests.items()):
            total.add_metric(key, series[0])
            _add(sums, key[:-1], series)
        yield total
        durations = HistogramMetricFamily(
            "apiserver_request_duration_seconds", "Time to answer a request.", labels=_REQUEST_LABELS
        )
        slis = HistogramMetricFamily(
            "apiserver_request_sli_duration_seconds",
            "Time to answer a request, without the time in queues and in webhooks.",
            labels=_SLI_LABELS,
        )
        sli_sums: dict[Labels, list[float]] = {}
        size_sums: dict[Labels, list[float]] = {}
        sizes = HistogramMetricFamily(
            "apiserver_response_sizes", "Size of the responses to reads in bytes.", labels=_SLI_LABELS
        )
        nothing = [0.0] * (len(REQUEST_BUCKETS) + 2)
        for labels, series in sums.items():
            if any(series[2:_SIZES]):
                durations.add_metric(labels, cumulative(REQUEST_BUCKETS, series[2:_SIZES]), series[1])
            shown = labels[:1] + labels[2:]
            if any(series[_SIZES + 1 :]):
                _add(size_sums, shown, series[_SIZES:])
            if labels in self._watches or labels[1]:
                continue
            more = self._elsewhere.get(labels, nothing)
            counts = [a + b for a, b in zip(series[2:_SIZES], more[1:], strict=True)]
            counts = [sum(counts[: _SLI_FROM + 1]), *counts[_SLI_FROM + 1 :]]
            _add(sli_sums, shown, [series[1] + more[0], *counts])
        for labels, size in size_sums.items():
            sizes.add_metric(labels, cumulative(SIZE_BUCKETS, size[1:]), size[0])
        for labels, sli in sli_sums.items():
            slis.add_metric(labels, cumulative(REQUEST_BUCKETS[_SLI_FROM:], sli[1:]), sli[0])
        yield from (durations, slis, sizes)

    def _collect_validations(self) -> HistogramMetricFamily:
        """Return durations by fieldValidation. Requests without the parameter are all requests minus those with it."""
        buckets = self.details.validations.buckets
        validated_s, validated = self.details.validations.whole(buckets)
        family = self.details.validations.family(buckets)
        not_validated_s, not_validated = -validated_s, [-count for count in validated]
        for series in [self._removed, *(own for key, own in self._requests.copy().items() if self._has_sli(key))]:
            not_validated_s += series[1]
            counts = series[2:_SIZES]
            counts = [sum(counts[: _SLI_FROM + 1]), *counts[_SLI_FROM + 1 :]]
            not_validated = [a + b for a, b in zip(not_validated, counts, strict=True)]
        family.add_metric(("",), cumulative(buckets, not_validated), max(not_validated_s, 0.0))
        return family

    def _has_sli(self, key: Labels) -> bool:
        return key[:-1] not in self._watches

    def collect(self) -> Iterable[Metric]:
        """Return requests and gauges for Prometheus."""
        yield self._collect_validations()
        yield from self._collect_requests()
        in_flight = GaugeMetricFamily(
            "apiserver_current_inflight_requests", "Requests in progress.", labels=["request_kind"]
        )
        mutating = [is_mutating(request) for request in self._in_flight()]
        in_flight.add_metric(["mutating"], sum(mutating))
        in_flight.add_metric(["readOnly"], len(mutating) - sum(mutating))
        yield in_flight
        long_running = GaugeMetricFamily("apiserver_longrunning_requests", "Open streams.", labels=_SLI_LABELS)
        open_streams: dict[Labels, int] = {}
        for labels, count in list(self.long_running.items()):
            shown = labels[:1] + labels[2:]
            open_streams[shown] = open_streams.get(shown, 0) + count
        for labels, count in open_streams.items():
            long_running.add_metric(labels, count)
        yield long_running
        yield CounterMetricFamily(
            "apiserver_tls_handshake_errors_total",
            "Failed TLS handshakes.",
            self.handshakes.errors,
        )
        yield from unread_families(self.unread)
        yield from self._collect_objects()
        yield from self._collect_identity()
        size = GaugeMetricFamily("apiserver_storage_size_bytes", "Size of the store.", labels=["storage_cluster_id"])
        size.add_metric(["etcd-0"], self._size_bytes)
        yield size

    def _collect_objects(self) -> Iterable[Metric]:
        objects = GaugeMetricFamily("apiserver_resource_objects", "Stored objects.", labels=["group", "resource"])
        older = GaugeMetricFamily("apiserver_storage_objects", "Stored objects, by resource.", labels=["resource"])
        for resource, count in self._objects.items():
            objects.add_metric([resource.group, resource.resource], count)
            older.add_metric([str(resource)], count)
        yield objects
        yield older
        requests = CounterMetricFamily(
            "etcd_requests_total", "Operations of the store.", labels=self._store_requests.labels
        )
        for labels, count in self._store_requests.totals().items():
            requests.add_metric(labels, count)
        yield requests

    def _collect_identity(self) -> Iterable[Metric]:
        """Return the identity of the server, and the use of deprecated versions."""
        version = version_info()
        build = GaugeMetricFamily(
            "kubernetes_build_info", "Version and build of the server.", labels=list(_BUILD_LABELS.values())
        )
        build.add_metric([version[name] for name in _BUILD_LABELS], 1)
        yield build
        versions = GaugeMetricFamily(
            "version_info",
            "Version of the server, and the version that it emulates.",
            labels=("component", "binary", "emulation", "min_compat"),
        )
        emulated = f"{version['emulationMajor']}.{version['emulationMinor']}"
        compatible = f"{version['minCompatibilityMajor']}.{version['minCompatibilityMinor']}"
        versions.add_metric(("kube", emulated, emulated, compatible), 1)
        yield versions
        features = GaugeMetricFamily(
            "kubernetes_feature_enabled", "1: the feature is enabled; 0: it is not.", labels=("name", "stage")
        )
        for name, (stage, there) in FEATURES.items():
            features.add_metric([name, stage], int(there))
        yield features
        deprecated = GaugeMetricFamily(
            "apiserver_requested_deprecated_apis",
            "1 for each deprecated version of a resource that was requested.",
            labels=("group", "version", "resource", "subresource", "removed_release"),
        )
        for requested in list(self.deprecated):
            deprecated.add_metric((*requested, ""), 1)
        yield deprecated

    def storage(self, objects: Mapping[GroupResource, int], size_bytes: int | None) -> None:
        """Set the number of stored objects by resource, and the size of the store; None keeps the last size."""
        self._objects = objects
        if size_bytes is not None:
            self._size_bytes = size_bytes

    async def exposition(self) -> bytes:
        """Return all metrics as text, built in a thread."""
        self._process.tasks = len(asyncio.all_tasks())
        return await asyncio.to_thread(self._text)

    def _text(self) -> bytes:
        return generate_latest(self.registry).replace(b" untyped\n", b" counter\n")


def _add(sums: dict[Labels, list[float]], labels: Labels, series: list[float]) -> None:
    known = sums.get(labels)
    sums[labels] = [a + b for a, b in zip(known, series, strict=True)] if known else list(series)


def is_mutating(request: Request) -> bool:
    """Return True if metrics count the request as a write."""
    return request.info.verb in _MUTATING
