"""Metrics of authentication and authorization: results and durations.

Source: apiserver pkg/endpoints/filters/metrics.go (1.36).
"""

from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily, Metric

from sampan.server.authorization.authorizer import DecisionCounting
from sampan.server.impersonation.metrics import ImpersonationMetrics
from sampan.server.instruments.histogram import Counter, Histogram, cumulative

_BUCKETS = tuple(0.001 * 2**n for n in range(15))
_FILTER_BUCKETS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0)
_BOTH = tuple(sorted({*_BUCKETS, *_FILTER_BUCKETS}))
_SUCCESS = ("success",)
_NAMES_MAX = 1000
_SHOWN = frozenset({"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})


class AccessMetrics:
    """Authentication and authorization attempts. Record on the event loop.

    Each attempt is recorded in a histogram. The attempt counters and the filter durations are computed from it.
    """

    def __init__(self, deciding: Sequence[DecisionCounting] = ()) -> None:
        """`deciding`: authorizers that count their decisions."""
        self.authentication = Histogram(
            "authentication_duration_seconds", "Duration of authentication.", ("result",), _BOTH
        )
        self.authorization = Histogram(
            "authorization_duration_seconds", "Duration of authorization.", ("result",), _BOTH
        )
        self.impersonation = ImpersonationMetrics()
        self._deciding = deciding
        self._users: dict[str, list[int]] = {}
        """Authenticated requests by displayed user name."""
        self._names: dict[str, list[int]] = {}
        """Counters in `_users`, by real user name. Users with the same displayed name share a counter."""

    def known(self, name: str, seconds: float) -> None:
        """Record that a user was authenticated."""
        self.authentication.observe(_SUCCESS, seconds)
        count = self._names.get(name)
        if count is None:
            count = self._count_of(name)
        count[0] += 1

    def _count_of(self, name: str) -> list[int]:
        shown = name if name in _SHOWN else "email_id" if "@" in name else "other"
        count = self._users.setdefault(shown, [0])
        if len(self._names) < _NAMES_MAX:
            self._names[name] = count
        return count

    def reset(self) -> None:
        """Set the counts of authentication and authorization to 0."""
        self.authentication.reset()
        self.authorization.reset()
        self._users.clear()
        self._names.clear()

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        users = Counter("authenticated_user_requests", "Authenticated requests, by user.", ("username",))
        for shown, seen in list(self._users.items()):
            users.add((shown,), seen[0])
        yield from users.collect()
        yield from self.impersonation.collect()
        for name, help_text, histogram in (
            ("authentication_attempts", "Authentications, by result.", self.authentication),
            ("authorization_attempts_total", "Authorizations, by result.", self.authorization),
        ):
            attempts = Counter(name, help_text, ("result",))
            for values, count in histogram.totals().items():
                attempts.add(values, count)
            yield from attempts.collect()
            yield histogram.family(_BUCKETS)
        decisions = Counter(
            "apiserver_authorization_decisions_total",
            "Decisions, by authorizer and result.",
            ("type", "name", "decision"),
        )
        for each in self._deciding:
            for values, count in list(each.decisions.items()):
                decisions.add(values, count)
        yield from decisions.collect()
        filters = HistogramMetricFamily(
            "apiserver_request_filter_duration_seconds", "Time that a filter took.", labels=("filter",)
        )
        for name, histogram in (("authentication", self.authentication), ("authorization", self.authorization)):
            seconds, counts = histogram.whole(_FILTER_BUCKETS)
            filters.add_metric((name,), cumulative(_FILTER_BUCKETS, counts), seconds)
        yield filters
