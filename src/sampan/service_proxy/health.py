"""`ProxyHealth`: /healthz and /livez of a proxy, for load balancers and supervisors.

Source: pkg/proxy/healthcheck/proxy_health.go (1.36).
"""

import datetime as dt
import json
from typing import Final

from sampan.core.clock import monotonic, utc_now
from sampan.core.time import format_time
from sampan.http.server import Request, Response

STALE_S: Final = 60.0
"""Seconds that a change may wait until its rules are written. After that, the proxy is unhealthy."""


class ProxyHealth:
    """State of a proxy that load balancers (/healthz) and supervisors (/livez) read.

    It is healthy if the rules of changes are written in time, and its Node is not being deleted.
    """

    def __init__(self) -> None:
        self.node_stays = True
        """False while the Node is being deleted: load balancers then send no more new connections."""
        self._waits_since: float | None = None
        self._started = False
        self._last_written: dt.datetime = utc_now()

    def changed(self) -> None:
        """Record a change whose rules are not written yet."""
        if self._waits_since is None:
            self._waits_since = monotonic()

    def written(self) -> None:
        """Record that the rules of all changes are written."""
        self._waits_since = None
        self._started = True
        self._last_written = utc_now()

    @property
    def is_live(self) -> bool:
        """Return True if the rules are up to date."""
        return self._started and (self._waits_since is None or monotonic() - self._waits_since < STALE_S)

    async def respond(self, request: Request) -> Response:
        """Return the response to a request."""
        if request.method not in ("GET", "HEAD"):
            return Response(405, b"only GET\n")
        if request.path not in ("/healthz", "/livez"):
            return Response(404, b"404 page not found\n")
        healthy = self.is_live and (self.node_stays or request.path == "/livez")
        now = utc_now()
        report: dict[str, object] = {
            "lastUpdated": format_time(now if self.is_live else self._last_written),
            "currentTime": format_time(now),
        }
        if request.path == "/healthz":
            report["nodeEligible"] = self.node_stays
        return Response(200 if healthy else 503, json.dumps(report).encode(), "application/json")
