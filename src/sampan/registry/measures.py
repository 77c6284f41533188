"""`Measures`: counters and durations of a cluster for its metrics, except the metrics of its caches.

Source: component-base metrics/prometheus/restclient/metrics.go, apiextensions pkg/apiserver/conversion/metrics.go
(1.36).
"""

from typing import Final

from sampan.core.telemetry.durations import Durations
from sampan.core.telemetry.work import WorkMetrics
from sampan.registry.step_times import StepTimes
from sampan.registry.store_measures import StoreMeasures

_REQUEST_BUCKETS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_SIZE_BUCKETS: Final = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
_CONVERSION_BUCKETS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60)
_CRD_BUCKETS: Final = tuple(0.001 * 2**n for n in range(15))
_HOSTS_MAX: Final = 1000


class WebhookRequests:
    """Requests to webhooks of all kinds."""

    def __init__(self) -> None:
        self.durations = Durations(_REQUEST_BUCKETS)
        """Durations of requests in seconds, by verb and host."""
        self.request_sizes = Durations(_SIZE_BUCKETS)
        """Sizes of request bodies in bytes, by verb and host. `response_sizes`: the same for response bodies."""
        self.response_sizes = Durations(_SIZE_BUCKETS)
        self.counts: dict[tuple[str, str, str], int] = {}
        """Number of requests, by code, method and host."""

    def sent(self, method: str, host: str, code: str, seconds: float) -> None:
        """Count a request that got a response with this code, or failed (`<error>`)."""
        key = (code, method, host)
        if key not in self.counts and len(self.counts) >= _HOSTS_MAX:
            return
        self.counts[key] = self.counts.get(key, 0) + 1
        self.durations.observe((method, host), seconds)

    def record_response(self, method: str, host: str, request_bytes: int, response_bytes: int) -> None:
        """Record the body sizes of a request that got a response. Ignores hosts beyond the maximum number of counted
        hosts.
        """
        key = (method, host)
        if key in self.durations.series:
            self.request_sizes.observe(key, request_bytes)
            self.response_sizes.observe(key, response_bytes)


class Measures:
    """Measurements of one cluster."""

    def __init__(self) -> None:
        self.store = StoreMeasures()
        self.steps = StepTimes()
        """Durations of the steps of writes."""
        self.requests = WebhookRequests()
        self.conversions = Durations(_CONVERSION_BUCKETS)
        """Durations of calls to conversion webhooks in seconds, by result (success, failure) and kind of failure."""
        self.crd_conversions = Durations(_CRD_BUCKETS)
        """Durations of calls to conversion webhooks in seconds, by CRD, version before, version after, and success."""

        self.repair_errors = 0
        """Failed passes of the repair loop over the addresses and node ports of Services."""

        self.works: dict[str, WorkMetrics] = {}
        """Progress of the background loops, by name."""

    def repair_failed(self) -> None:
        """Count a failed pass of the repair loop."""
        self.repair_errors += 1

    def work(self, name: str) -> WorkMetrics:
        """Return the progress of a loop; created on first use."""
        return self.works.setdefault(name, WorkMetrics())

    def converted(self, crd: str, versions: tuple[str, str], failure: str, seconds: float) -> None:
        """Record a call of a conversion webhook. `versions`: from and to; `failure`: its kind, "" for none."""
        self.conversions.observe(("failure" if failure else "success", failure), seconds)
        self.crd_conversions.observe((crd, *versions, "false" if failure else "true"), seconds)
