"""Metrics of controllers, with the names of controller-runtime.

Source: controller-runtime pkg/internal/controller/metrics/metrics.go (0.24).
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS_S: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0),
    *(40.0, 50.0, 60.0),
)
_RESULTS: Final = ("error", "requeue_after", "success")
_LABELS: Final = ("controller",)


class ControllerMetrics:
    """Metric families of all controllers of one registry. Create one for a registry and pass it to every controller."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"controller_runtime_{name}", text, (*_LABELS, *labels), registry=registry)

        self.total = counter("reconcile_total", "Reconciles, by result", "result")
        self.errors = counter("reconcile_errors_total", "Reconciles that raised")
        self.terminal_errors = counter("terminal_reconcile_errors_total", "Reconciles that raised TerminalError")
        self.panics = counter("reconcile_panics_total", "Reconciles with an exception that indicates a bug")
        self.timeouts = counter("reconcile_timeouts_total", "Reconciles that took too long and were cancelled")
        self.event_errors = Counter(
            "sampan_controller_event_errors_total",
            "Events whose predicate or map function raised, with each repetition",
            _LABELS,
            registry=registry,
        )
        self.failing = Gauge(
            "sampan_controller_failing_objects",
            "Objects whose last reconcile or event has failed",
            _LABELS,
            registry=registry,
        )
        self.time = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "Duration of a reconcile",
            _LABELS,
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self.workers = Gauge(
            "controller_runtime_max_concurrent_reconciles", "Number of workers", _LABELS, registry=registry
        )
        self.active = Gauge("controller_runtime_active_workers", "Workers that reconcile", _LABELS, registry=registry)

    def of(self, controller: str, workers: int) -> "ReconcileMetrics":
        """Return the series of one controller. They exist with the value 0 before the first reconcile."""
        return ReconcileMetrics(self, controller, workers)


class ReconcileMetrics:
    """Metrics of one controller."""

    def __init__(self, families: ControllerMetrics, controller: str, workers: int) -> None:
        self.results = {result: families.total.labels(controller, result) for result in _RESULTS}
        self.errors = families.errors.labels(controller)
        self.terminal_errors = families.terminal_errors.labels(controller)
        self.panics = families.panics.labels(controller)
        self.timeouts = families.timeouts.labels(controller)
        self.event_errors = families.event_errors.labels(controller)
        self.failing = families.failing.labels(controller)
        self.time = families.time.labels(controller)
        self.active = families.active.labels(controller)
        families.workers.labels(controller).set(workers)
