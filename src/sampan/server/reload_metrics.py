"""`ReloadMetrics`: which configuration counts, and whether newer ones could be taken.

Source: apiserver pkg/server/options/{authenticationconfig,authorizationconfig}/metrics (1.36).
"""

import hashlib
import time
from collections.abc import Callable, Iterable

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.server.histogram import Counter

_SERVER = "apiserver_id_hash"


def hash_of(content: str | bytes) -> str:
    """How metrics show what nobody should read in them, `sha256:…`; empty for nothing."""
    data = content.encode() if isinstance(content, str) else content
    return f"sha256:{hashlib.sha256(data).hexdigest()}" if data else ""


class ReloadMetrics:
    """A collector for Prometheus, of one configuration of one server."""

    def __init__(self, what: str, server_hash: str, now: Callable[[], float] = time.time) -> None:
        """`what`: authentication or authorization; `server_hash` tells servers apart."""
        self._prefix = f"apiserver_{what}_config_controller_"
        self._server = server_hash
        self._now = now
        self._reloads = Counter(
            f"{self._prefix}automatic_reloads_total", "Attempts to take a new configuration.", ("status", _SERVER)
        )
        self._last: dict[str, float] = {}
        self._current = ""

    def began(self, content: bytes) -> None:
        """This is what holds from the beginning on."""
        self._current = hash_of(content)

    def succeeded(self, content: bytes) -> None:
        """This holds from now on."""
        self.began(content)
        self._count("success")

    def failed(self) -> None:
        """What is new could not be taken."""
        self._count("failure")

    def _count(self, status: str) -> None:
        self._reloads.add((status, self._server))
        self._last[status] = self._now()

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        yield from self._reloads.collect()
        last = GaugeMetricFamily(
            f"{self._prefix}automatic_reload_last_timestamp_seconds",
            "When a new configuration was taken, or could not be.",
            labels=("status", _SERVER),
        )
        for status, at in list(self._last.items()):
            last.add_metric((status, self._server), at)
        yield last
        info = GaugeMetricFamily(
            f"{self._prefix}last_config_info", "The configuration that holds.", labels=(_SERVER, "hash")
        )
        if self._current:
            info.add_metric((self._server, self._current), 1)
        yield info
