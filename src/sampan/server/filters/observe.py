"""Metrics and log of requests.

All requests are counted. Slow and failed ones are logged as warnings, all other requests at level debug.
Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/server/httplog/httplog.go (1.36).
"""

import logging
from collections.abc import Callable

from sampan.server.filters.hook import HandlerHook
from sampan.server.metrics.request_labels import labels_by_target
from sampan.server.metrics.server import ServerMetrics
from sampan.server.request import NOT_COUNTED, Request, Response

_log = logging.getLogger("sampan.request")

SLOW_S = 1.0


def observe_hook(metrics: ServerMetrics, clock: Callable[[], float], *, slow_s: float = SLOW_S) -> HandlerHook:
    """Return a hook that records every response in `metrics`, and logs those slower than `slow_s`.

    `clock` returns monotonic seconds. A stream is recorded when it has ended.
    """
    record = metrics.record

    def after(request: Request, response: Response) -> None:
        seconds = clock() - request.wire.received
        if request.wire.client_certificate is not None and request.user is not None:
            metrics.certificates.shown(request.wire.client_certificate)
        if response.stream is not None or response.takeover is not None:
            _record_at_the_end(metrics, clock, request, response)
        else:
            whole = response.body and not response.rest
            record(request, response.status, seconds, len(response.body) if whole else response.size_bytes)
        if request.abandoned:
            _log.info("client disconnected while sending its request", extra=_fields(request, response, seconds))
        elif response.status >= 500 or (seconds > slow_s and not request.wire.long_running):
            _log.warning("slow or failed request", extra=_fields(request, response, seconds))
        elif _log.isEnabledFor(logging.DEBUG):
            _log.debug("request completed", extra=_fields(request, response, seconds))

    return HandlerHook(after=after)


def _record_at_the_end(
    metrics: ServerMetrics, clock: Callable[[], float], request: Request, response: Response
) -> None:
    """Record a response when its stream ends. A connection that was handed over has no status code then."""
    counted, labels = request.counted is not NOT_COUNTED, labels_by_target(request)
    status = 0 if response.takeover is not None else response.status
    lasting = counted and not response.finite
    if lasting:
        metrics.long_running[labels] = metrics.long_running.get(labels, 0) + 1

    def ended() -> None:
        if lasting:
            metrics.long_running[labels] -= 1
        metrics.record(request, status, clock() - request.wire.received, response.sent_bytes)

    response.at_end(ended)


def _fields(request: Request, response: Response, seconds: float) -> dict[str, object]:
    return {
        "verb": request.info.verb or request.wire.method,
        # The query of a callback after a login has a code.
        "uri": request.wire.path if request.wire.path.startswith("/dashboard/") else request.wire.uri,
        "code": response.status,
        "latency_ms": round(seconds * 1000, 1),
        "user": request.user.name if request.user else "",
        "user_agent": request.headers.get("user-agent", ""),
        "source": request.wire.client_address,
        "audit_id": request.audit_id,
    }
