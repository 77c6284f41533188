"""`StoreMeasures`: durations and failures of the store's operations, by resource."""

from typing import Final

from sampan.core.gvk import GroupResource
from sampan.core.telemetry.durations import Durations
from sampan.core.telemetry.tracing import current_span
from sampan.storage.measured import MeasuredStore
from sampan.storage.store import Store

BUCKETS: Final = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
_OPERATIONS: Final = ("get", "list", "create", "update", "delete")


class StoreMeasures:
    """Durations and failures of operations on the store of one cluster."""

    def __init__(self) -> None:
        self.requests = Durations(BUCKETS)
        """Durations of all operations in seconds, by operation, group and resource. Failed operations are included."""
        self.errors: dict[tuple[str, str, str], int] = {}
        """Number of failed operations, by operation, group and resource."""

    def measured(self, store: Store, resource: GroupResource) -> Store:
        """Return the store for one resource, with timed operations. In a trace, they appear as parts of the current
        span.
        """
        observe = self.requests.observe
        labels = {name: (name, resource.group, resource.resource) for name in _OPERATIONS}
        spans = {name: f"{name.capitalize()} storage" for name in _OPERATIONS}

        def observed(operation: str, seconds: float) -> None:
            observe(labels[operation], seconds)
            span = current_span()
            if span is not None:
                span.took(spans[operation], seconds)
                span.latencies["etcd"] = span.latencies.get("etcd", 0.0) + seconds

        def failed(operation: str) -> None:
            key = labels[operation]
            self.errors[key] = self.errors.get(key, 0) + 1

        return MeasuredStore(store, observed, failed)
