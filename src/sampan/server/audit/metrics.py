"""`AuditMetrics`: counters of audit events. Source: apiserver pkg/audit/metrics.go (1.36)."""

import logging
from collections.abc import Iterable, Sequence

from prometheus_client.core import Metric

from sampan.server.audit.event import AuditEvent
from sampan.server.instruments.histogram import Counter

_log = logging.getLogger("sampan.audit")
_SHOWN_MAX = 10


class AuditMetrics:
    """Prometheus collector of audit events. Values are recorded on the event loop."""

    def __init__(self) -> None:
        self.events = Counter("apiserver_audit_event_total", "Audit events passed to the backends.", ())
        self.errors = Counter(
            "apiserver_audit_error_total", "Audit events that were not recorded, by backend.", ("plugin",)
        )
        self.levels = Counter("apiserver_audit_level_total", "Requests by their audit level.", ("level",))
        self.rejected = Counter(
            "apiserver_audit_requests_rejected_total",
            "Requests refused because their audit event was not recorded.",
            (),
        )
        for counter in (self.events, self.rejected):
            counter.add((), 0)

    def failed(self, plugin: str, reason: str, events: Sequence[AuditEvent]) -> None:
        """Count and log events that a backend could not record. The log contains the ids of the first ones."""
        self.errors.add((plugin,), len(events))
        shown = ", ".join(f"{event.fields['auditID']} {event.fields['stage']}" for event in events[:_SHOWN_MAX])
        _log.error(
            "cannot record audit events", extra={"plugin": plugin, "count": len(events), "error": reason, "ids": shown}
        )

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        for counter in (self.events, self.errors, self.levels, self.rejected):
            yield from counter.collect()
