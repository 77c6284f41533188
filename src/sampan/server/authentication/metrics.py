"""Metrics of authentication: the cache of tokens, and the issuers of JWTs.

Source: apiserver pkg/authentication/token/cache/stats.go, plugin/pkg/authenticator/token/oidc/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from sampan.core.clock import monotonic, unix_time
from sampan.server.authentication.authenticator import TokenError
from sampan.server.instruments.histogram import Counter, Histogram, cumulative
from sampan.server.instruments.reloads import hash_of

_CACHE: Final = "authentication_token_cache_"
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_JWT: Final = "apiserver_authentication_jwt_authenticator_"
_MISS: Final = ("miss",)


class TokenCacheMetrics:
    """Metrics of the token cache. Hits are only counted, in `hits`: their duration is too short to measure."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self.hits = 0
        self._misses = Histogram(
            f"{_CACHE}request_duration_seconds", "Duration of a token lookup.", ("status",), _BUCKETS
        )
        self._fetches = Counter(
            f"{_CACHE}fetch_total", "Lookups of tokens that were not cached, by result.", ("status",)
        )
        self._under_way = 0

    @contextmanager
    def fetching(self, unknown: str) -> Iterator[None]:
        """Measure a lookup. A `TokenError` with the text `unknown` is a result, not a failure of the lookup."""
        began, outcome = self._now(), "ok"
        self._under_way += 1
        try:
            yield
        except TokenError as error:
            outcome = "ok" if str(error) == unknown else "error"
            raise
        finally:
            self._under_way -= 1
            self._fetches.add((outcome,))
            self._misses.observe(_MISS, int((self._now() - began) * 1000) / 1000)

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        active = GaugeMetricFamily(f"{_CACHE}active_fetch_count", "Lookups of tokens in progress.", labels=("status",))
        for status in ("blocked", "in_flight"):
            active.add_metric((status,), self._under_way)
        yield active
        yield from self._fetches.collect()
        requests = Counter(f"{_CACHE}request_total", "Lookups of tokens, by cache hit or miss.", ("status",))
        times: HistogramMetricFamily = self._misses.family(self._misses.buckets)
        if self.hits:
            requests.add(("hit",), self.hits)
            times.add_metric(("hit",), cumulative(_BUCKETS, [self.hits] + [0] * len(_BUCKETS)), 0)
        for values, count in self._misses.totals().items():
            requests.add(values, count)
        yield from requests.collect()
        yield times


class IssuerMetrics:
    """Metrics of the issuers of JWTs. Labels contain hashes of the issuers."""

    def __init__(self, server_hash: str = "", now: Callable[[], float] = unix_time) -> None:
        self._server = server_hash
        self._now = now
        self._latency = Histogram(
            f"{_JWT}latency_seconds",
            "Duration of the verification of a token that is not cached.",
            ("result", "jwt_issuer_hash"),
            (0.001, *_BUCKETS),
        )
        self._fetched: dict[tuple[str, str], float] = {}
        self._keys: dict[str, str] = {}

    def verified(self, issuer: str, result: str, seconds: float) -> None:
        """Record the verification of a token, with the result `success` or `failure`."""
        self._latency.observe((result, hash_of(issuer)), seconds)

    def fetched(self, issuer: str, document: bytes | None) -> None:
        """Record a fetch of an issuer's keys. `document` is None after a failure."""
        shown = hash_of(issuer)
        self._fetched["failure" if document is None else "success", shown] = self._now()
        if document is not None:
            self._keys[shown] = hash_of(document)

    def keep(self, issuers: Iterable[str]) -> None:
        """Remove the metrics of all other issuers."""
        kept = set(map(hash_of, issuers))
        self._keys = {issuer: keys for issuer, keys in self._keys.items() if issuer in kept}
        self._fetched = {what: at for what, at in self._fetched.items() if what[1] in kept}

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        yield from self._latency.collect()
        fetched = GaugeMetricFamily(
            f"{_JWT}jwks_fetch_last_timestamp_seconds",
            "Time of the last fetch of an issuer's keys, by result.",
            labels=("result", "jwt_issuer_hash", "apiserver_id_hash"),
        )
        for (result, issuer), at in list(self._fetched.items()):
            fetched.add_metric((result, issuer, self._server), at)
        yield fetched
        info = GaugeMetricFamily(
            f"{_JWT}jwks_fetch_last_key_set_info",
            "Hash of the current keys of an issuer.",
            labels=("jwt_issuer_hash", "apiserver_id_hash", "hash"),
        )
        for issuer, keys in list(self._keys.items()):
            info.add_metric((issuer, self._server, keys), 1)
        yield info
