"""`TruncateBackend`: limits the size of events and batches.

Source: apiserver plugin/pkg/audit/truncate/truncate.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import integer
from sampan.server.audit.backend import Backend
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics

_BYTES = integer(metavar="BYTES")


@dataclass(frozen=True, slots=True)
class TruncateSettings:
    """Maximum sizes. The size of a batch is the sum of its events, without the enclosing list."""

    enabled: bool = setting(False, "Remove the bodies of events that are too large; drop events that still are.")
    max_batch_size_bytes: int = setting(10 << 20, "Largest size of a batch.", name="max-batch-size", kind=_BYTES)
    max_event_size_bytes: int = setting(100 << 10, "Largest size of an event.", name="max-event-size", kind=_BYTES)


class TruncateBackend:
    """Removes the bodies of events that are too large, drops those that still are, and splits batches."""

    def __init__(self, delegate: Backend, settings: TruncateSettings, metrics: AuditMetrics) -> None:
        self._delegate, self._settings, self._metrics = delegate, settings, metrics
        self.name = f"truncate<{delegate.name}>"

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events."""
        batches: list[list[AuditEvent]] = []
        dropped: list[AuditEvent] = []
        size = 0
        for event in map(self._shortened, events):
            length = len(event.document()) + 1
            if length > self._settings.max_event_size_bytes:
                dropped.append(event)
                continue
            if not batches or size + length > self._settings.max_batch_size_bytes:
                batches.append([])
                size = 0
            batches[-1].append(event)
            size += length
        taken = [await self._delegate.process(batch) for batch in batches]
        if dropped:
            self._metrics.failed("truncate", "event is too large even after truncating", dropped)
        return all(taken)

    def _shortened(self, event: AuditEvent) -> AuditEvent:
        if len(event.document()) < self._settings.max_event_size_bytes:
            return event
        return event.without_bodies() if event.fields["level"] in ("Request", "RequestResponse") else event

    async def run(self) -> None:
        """Run background work until cancelled."""
        await self._delegate.run()
