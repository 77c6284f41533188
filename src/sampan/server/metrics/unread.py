"""Metrics of the responses that wait because their clients do not read."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from sampan.server.connections.unread import UnreadBytes


def unread_families(unread: UnreadBytes) -> Iterable[Metric]:
    """Return all families for Prometheus. May be called from another thread."""
    yield GaugeMetricFamily(
        "sampan_http_unread_bytes", "Bytes of responses that wait because clients do not read.", unread.total_bytes
    )
    yield GaugeMetricFamily(
        "sampan_http_unread_responses", "Responses that wait because clients do not read.", unread.responses
    )
    cuts = CounterMetricFamily(
        "sampan_http_unread_responses_cut_total",
        "Responses that were cut because too many bytes waited for one connection, one user or all clients.",
        labels=("limit",),
    )
    for limit, count in unread.cuts.items():
        cuts.add_metric([limit], count)
    yield cuts
