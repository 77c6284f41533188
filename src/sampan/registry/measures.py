"""`Measures`: what a cluster measures for metrics, besides its caches.

Source: component-base metrics/prometheus/restclient/metrics.go, apiextensions pkg/apiserver/conversion/metrics.go
(1.36).
"""

from typing import Final

from sampan.core.durations import Durations
from sampan.core.work import Work

_REQUEST_BUCKETS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_SIZE_BUCKETS: Final = (64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
_CONVERSION_BUCKETS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60)
_CRD_BUCKETS: Final = tuple(0.001 * 2**n for n in range(15))
_HOSTS_MAX: Final = 1000


class Requests:
    """Requests to webhooks, of whatever kind."""

    def __init__(self) -> None:
        self.durations = Durations(_REQUEST_BUCKETS)
        """By verb and host."""
        self.request_sizes = Durations(_SIZE_BUCKETS)
        """Bytes of bodies, by verb and host; of answers too."""
        self.response_sizes = Durations(_SIZE_BUCKETS)
        self.counts: dict[tuple[str, str, str], int] = {}
        """By code, method and host."""

    def sent(self, method: str, host: str, code: str, seconds: float) -> None:
        """One was answered with a code, or came to nothing (`<error>`)."""
        key = (code, method, host)
        if key not in self.counts and len(self.counts) >= _HOSTS_MAX:
            return
        self.counts[key] = self.counts.get(key, 0) + 1
        self.durations.observe((method, host), seconds)

    def answered(self, method: str, host: str, request_bytes: int, response_bytes: int) -> None:
        """The bodies of one that was sent and has an answer. Of hosts beyond the bound nothing is kept."""
        key = (method, host)
        if key in self.durations.series:
            self.request_sizes.observe(key, request_bytes)
            self.response_sizes.observe(key, response_bytes)


class Measures:
    """One for each cluster."""

    def __init__(self) -> None:
        self.requests = Requests()
        self.conversions = Durations(_CONVERSION_BUCKETS)
        """Conversion webhooks: by result (success, failure) and kind of failure."""
        self.crd_conversions = Durations(_CRD_BUCKETS)
        """The same by CRD, version before, version after, and whether it succeeded."""

        self.repair_errors = 0
        """How often the claims of Services, of addresses and node ports, could not be looked over."""

        self.works: dict[str, Work] = {}
        """How the loops get on, by their names."""

    def repair_failed(self) -> None:
        """A pass over the claims of Services came to nothing."""
        self.repair_errors += 1

    def work(self, name: str) -> Work:
        """That of a loop."""
        return self.works.setdefault(name, Work())

    def converted(self, crd: str, versions: tuple[str, str], failure: str, seconds: float) -> None:
        """A conversion webhook was asked. `versions`: from and to; `failure`: its kind, "" for none."""
        self.conversions.observe(("failure" if failure else "success", failure), seconds)
        self.crd_conversions.observe((crd, *versions, "false" if failure else "true"), seconds)
