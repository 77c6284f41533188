"""Count, time and log requests.

All of them are counted; the slow and the failed are logged, and every one at level debug.
Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/server/httplog/httplog.go (1.36).
"""

import logging
from collections.abc import Callable

from sampan.server.filters.hook import Hook
from sampan.server.metrics import Labels, ServerMetrics
from sampan.server.request import OWN, Request, Response

_log = logging.getLogger("sampan.request")

SLOW_S = 1.0


def observe_hook(metrics: ServerMetrics, clock: Callable[[], float], *, slow_s: float = SLOW_S) -> Hook:
    """Record every answer in `metrics`, log those that took longer than `slow_s`. `clock`: monotonic seconds.

    A stream counts as open until its transport has finished it.
    """
    record = metrics.record

    def after(request: Request, response: Response) -> None:
        seconds = clock() - request.received
        record(request, response.status, seconds, len(response.body) or len(response.gzip_body or b""))
        if request.component == OWN and (response.stream is not None or response.takeover is not None):
            _count_stream(metrics, clock, request, response)
        if response.status >= 500 or (seconds > slow_s and not request.long_running):
            _log.warning("request", extra=_fields(request, response, seconds))
        elif _log.isEnabledFor(logging.DEBUG):
            _log.debug("request", extra=_fields(request, response, seconds))

    return Hook(after=after)


def _count_stream(metrics: ServerMetrics, clock: Callable[[], float], request: Request, response: Response) -> None:
    open_streams = metrics.long_running
    labels: Labels = metrics.labels(request)
    open_streams[labels] = open_streams.get(labels, 0) + 1
    before = response.finished

    def finished() -> None:
        open_streams[labels] -= 1
        if request.long_running:
            metrics.ended(request, response.status, clock() - request.received)
        if before is not None:
            before()

    response.finished = finished


def _fields(request: Request, response: Response, seconds: float) -> dict[str, object]:
    return {
        "verb": request.info.verb or request.method,
        "uri": request.path + ("?" + request.query_string if request.query_string else ""),
        "code": response.status,
        "latency_ms": round(seconds * 1000, 1),
        "user": request.user.name if request.user else "",
        "user_agent": request.headers.get("user-agent", ""),
        "source": request.client_address,
        "audit_id": request.audit_id,
    }
