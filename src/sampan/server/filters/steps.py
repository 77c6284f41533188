"""Log of slow requests, with the duration of each step.

Source: k8s.io/utils trace/trace.go, apiserver pkg/endpoints/handlers/{create,get}.go (1.36).
"""

import itertools
import logging
from collections.abc import Callable

from sampan.core.telemetry.tracing import Span
from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response

_log = logging.getLogger("sampan.trace")

SLOW_S = 0.5


def steps_hook(clock: Callable[[], float], *, slow_s: float = SLOW_S) -> HandlerHook:
    """Return a hook that ends each request's span, and logs the steps of requests slower than `slow_s`, except streams.

    `clock` returns monotonic seconds; spans must use the same clock.
    """

    def after(request: Request, response: Response) -> None:
        span = request.span
        if span is not None:
            span.leave()
            span.exported = None
        now = clock()
        if now - request.wire.received > slow_s and not request.wire.long_running:
            _log.info("slow request", extra=_fields(request, span or Span(request.wire.received), response.status, now))

    return HandlerHook(after=after)


def _fields(request: Request, span: Span, code: int, now: float) -> dict[str, object]:
    """Return the fields of the log line. Each step has the milliseconds since the previous step."""
    info = request.info
    times = [span.began, *(at for at, _ in span.steps)]
    steps = [
        f"{name} {(at - before) * 1000:.0f}ms"
        for (at, name), (before, _) in zip(span.steps, itertools.pairwise(times), strict=True)
    ]
    return {
        "trace": info.verb or request.wire.method,
        "uri": request.wire.uri,
        "resource": f"{info.resource}/{info.subresource}" if info.subresource else info.resource,
        "code": code,
        "total_ms": round((now - span.began) * 1000, 1),
        "steps": "; ".join([*steps, f"END {(now - times[-1]) * 1000:.0f}ms"]),
        "user_agent": request.headers.get("user-agent", ""),
        "client": request.wire.client_address,
        "audit_id": request.audit_id,
    }
