"""Metrics of a cluster: CEL, webhooks, Service addresses, tunnels of nodes.

Source: apiserver pkg/cel/metrics, apiextensions pkg/apiserver/conversion/metrics.go, component-base
metrics/prometheus/restclient, kubernetes pkg/registry/core/service/{ipallocator,portallocator}/metrics.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from sampan.core.telemetry.durations import DEFAULT_BUCKETS, Durations
from sampan.registry.cluster import Cluster
from sampan.server.instruments.histogram import Counter, Histogram
from sampan.server.metrics.work import work_families

_IPS: Final = "kube_apiserver_clusterip_allocator_"
_PORTS: Final = "kube_apiserver_nodeport_allocator_"
_RESULT: Final = ("result", "failure_type")
_LABELS: Final = ("verb", "host")


class ClusterMetrics:
    """Prometheus collector of one cluster: CEL, webhooks, Service addresses and tunnels of nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._histograms = _histograms(cluster)

    def collect(self) -> Iterable[Metric]:
        """Return all families. May be called from another thread."""
        for histogram in self._histograms:
            yield from histogram.collect()
        measures = self._cluster.measures
        conversions = CounterMetricFamily(
            "apiserver_conversion_webhook_request_total", "Calls of conversion webhooks.", labels=_RESULT
        )
        for values, count in measures.conversions.totals().items():
            conversions.add_metric(values, count)
        yield conversions
        requests = Counter(
            "rest_client_requests_total", "Requests to webhooks, by status code.", ("code", "method", "host")
        )
        for key, count in list(measures.requests.counts.items()):
            requests.add(key, count)
        yield from requests.collect()
        for what in ("clusterip", "nodeport"):
            yield CounterMetricFamily(
                f"apiserver_{what}_repair_reconcile_errors_total",
                "Failed repairs of the allocations of Services.",
                measures.repair_errors,
            )
        yield from work_families(measures.works)
        yield GaugeMetricFamily(
            "sampan_storage_compacted_revision",
            "Newest revision whose past states are removed; 0: none.",
            self._cluster.store.compacted,
        )
        tunnels = self._cluster.tunnels
        yield GaugeMetricFamily("sampan_node_tunnels", "Open tunnels of nodes.", tunnels.count)
        streams = "Connections to Pods and nodes that tunnels carry."
        yield GaugeMetricFamily("sampan_node_tunnel_streams", streams, tunnels.stream_count)
        yield CounterMetricFamily("sampan_node_tunnel_dials_total", f"{streams[:-1]}, since the start.", tunnels.dials)
        yield from self._of_addresses()
        yield from self._of_ports()

    def _of_addresses(self) -> Iterable[Metric]:
        taken = GaugeMetricFamily(f"{_IPS}allocated_ips", "Allocated cluster IPs.", labels=["cidr"])
        free = GaugeMetricFamily(f"{_IPS}available_ips", "Free cluster IPs.", labels=["cidr"])
        totals = Counter(f"{_IPS}allocation_total", "Allocations of cluster IPs.", ("cidr", "scope"))
        errors = Counter(f"{_IPS}allocation_errors_total", "Failed allocations of cluster IPs.", ("cidr", "scope"))
        times = Histogram(
            f"{_IPS}allocation_duration_seconds",
            "Duration of the allocation of a cluster IP.",
            ("cidr",),
            DEFAULT_BUCKETS,
        )
        for allocator in [each for family in self._cluster.allocators.ips.values() for each in family.networks]:
            cidr = str(allocator.network)
            taken.add_metric([cidr], len(allocator))
            free.add_metric([cidr], allocator.free)
            claimed = allocator.counters.durations.series.get(())
            if claimed is not None:
                times.series[cidr,] = claimed
            for scope, count in allocator.counters.totals.items():
                totals.add((cidr, scope), count)
            for scope, count in allocator.counters.errors.items():
                errors.add((cidr, scope), count)
        yield from (taken, free, *totals.collect(), *errors.collect(), *times.collect())

    def _of_ports(self) -> Iterable[Metric]:
        ports = self._cluster.allocators.ports
        yield GaugeMetricFamily(f"{_PORTS}allocated_ports", "Allocated node ports.", len(ports))
        yield GaugeMetricFamily(f"{_PORTS}available_ports", "Free node ports.", ports.free)
        for name, text, counts in (
            ("allocation_total", "Allocations of node ports.", ports.counters.totals),
            ("allocation_errors_total", "Failed allocations of node ports.", ports.counters.errors),
        ):
            counter = Counter(_PORTS + name, text, ("scope",))
            for scope, count in counts.items():
                counter.add((scope,), count)
            yield from counter.collect()


def _histograms(cluster: Cluster) -> tuple[Histogram, ...]:
    times, measures = cluster.compiler.cel_times, cluster.measures
    recorded: tuple[tuple[Durations, str, str, tuple[str, ...]], ...] = (
        (
            measures.steps.durations,
            "sampan_write_step_duration_seconds",
            "Duration of a step of a write, by its name in the list of steps.",
            ("step",),
        ),
        (
            times.compilations,
            "apiserver_cel_compilation_duration_seconds",
            "Time to compile the rules of a version of a CRD.",
            (),
        ),
        (times.evaluations, "apiserver_cel_evaluation_duration_seconds", "Time to evaluate an object's rules.", ()),
        (
            measures.conversions,
            "apiserver_conversion_webhook_duration_seconds",
            "Duration of calls of conversion webhooks.",
            _RESULT,
        ),
        (
            measures.crd_conversions,
            "apiserver_crd_conversion_webhook_duration_seconds",
            "Duration of calls of conversion webhooks, by CRD.",
            ("crd_name", "from_version", "to_version", "succeeded"),
        ),
        (
            measures.requests.durations,
            "rest_client_request_duration_seconds",
            "Time until webhooks responded.",
            _LABELS,
        ),
        (
            measures.requests.request_sizes,
            "rest_client_request_size_bytes",
            "Size of the requests to webhooks in bytes.",
            _LABELS,
        ),
        (
            measures.requests.response_sizes,
            "rest_client_response_size_bytes",
            "Size of the responses of webhooks in bytes.",
            _LABELS,
        ),
    )
    return tuple(Histogram.of(*each) for each in recorded)
