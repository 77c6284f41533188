"""Metrics of configuration reloads: the active configuration, and results of reloads.

Source: apiserver pkg/server/options/{authenticationconfig,authorizationconfig}/metrics (1.36).
"""

import hashlib
from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.core.clock import unix_time
from sampan.server.instruments.histogram import Counter

_SERVER = "apiserver_id_hash"


def hash_of(content: str | bytes) -> str:
    """Return `sha256:…` of a text that metrics must not reveal; empty for an empty text."""
    data = content.encode() if isinstance(content, str) else content
    return f"sha256:{hashlib.sha256(data).hexdigest()}" if data else ""


class ReloadMetrics:
    """Prometheus collector of the reloads of one configuration of one server."""

    def __init__(self, what: str, server_hash: str, now: Callable[[], float] = unix_time) -> None:
        """`what` is authentication or authorization. `server_hash` identifies the server."""
        self._prefix = f"apiserver_{what}_config_controller_"
        self._server = server_hash
        self._now = now
        self._reloads = Counter(
            f"{self._prefix}automatic_reloads_total", "Reloads of the configuration, by result.", ("status", _SERVER)
        )
        self._last: dict[str, float] = {}
        self._current = ""

    def began(self, content: bytes) -> None:
        """Record the configuration at startup."""
        self._current = hash_of(content)

    def succeeded(self, content: bytes) -> None:
        """Record that a new configuration is active."""
        self.began(content)
        self._count("success")

    def failed(self) -> None:
        """Record that a new configuration was invalid."""
        self._count("failure")

    def _count(self, status: str) -> None:
        self._reloads.add((status, self._server))
        self._last[status] = self._now()

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        yield from self._reloads.collect()
        last = GaugeMetricFamily(
            f"{self._prefix}automatic_reload_last_timestamp_seconds",
            "Time of the last reload of the configuration, by result.",
            labels=("status", _SERVER),
        )
        for status, at in list(self._last.items()):
            last.add_metric((status, self._server), at)
        yield last
        info = GaugeMetricFamily(
            f"{self._prefix}last_config_info", "Hash of the current configuration.", labels=(_SERVER, "hash")
        )
        if self._current:
            info.add_metric((self._server, self._current), 1)
        yield info
