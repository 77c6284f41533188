"""`ProxyMetrics`: metrics of a service proxy, with kube-proxy's names for metrics that kube-proxy has too."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8, 16)


class ProxyMetrics:
    """Metrics of a service proxy."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.write_s = Histogram(
            "kubeproxy_sync_proxy_rules_duration_seconds",
            "Time to write changed rules.",
            registry=registry,
            buckets=_BUCKETS,
        )
        self.change_s = Histogram(
            "sampan_proxy_change_duration_seconds",
            "Time from the event of a change until its rules are written.",
            registry=registry,
            buckets=_BUCKETS,
        )
        self.failures = Counter(
            "kubeproxy_sync_proxy_rules_nftables_sync_failures",
            "Transactions that nftables refused.",
            registry=registry,
        )
        self.service_changes = Counter(
            "kubeproxy_sync_proxy_rules_service_changes", "Changes of Services.", registry=registry
        )
        self.endpoint_changes = Counter(
            "kubeproxy_sync_proxy_rules_endpoint_changes", "Changes of EndpointSlices.", registry=registry
        )
        self.last_written = Gauge(
            "kubeproxy_sync_proxy_rules_last_timestamp_seconds", "Time when rules were last written.", registry=registry
        )
        self.last_queued = Gauge(
            "kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds",
            "Time when a change was last received.",
            registry=registry,
        )
        self.deleted_flows = Counter(
            "kubeproxy_conntrack_reconciler_deleted_entries",
            "UDP flows deleted because their endpoint is gone.",
            registry=registry,
        )
