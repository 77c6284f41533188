"""Log requests: the slow and the failed always, all of them when asked to.

Source: apiserver pkg/server/httplog/httplog.go (1.36).
"""

import asyncio
import logging
from collections.abc import Callable

from sampan.server.request import Filter, Handler, Request, Response

_log = logging.getLogger("sampan.request")

SLOW_S = 1.0


def with_http_log(*, slow_s: float = SLOW_S) -> Filter:
    """Write a line for every request at level debug; slower than `slow_s` seconds or 5xx: at level warning."""
    every = _log.isEnabledFor(logging.DEBUG)

    def wrap(handler: Handler) -> Handler:
        clock: Callable[[], float] | None = None

        async def filter_(request: Request) -> Response:
            nonlocal clock
            if clock is None:
                clock = asyncio.get_running_loop().time
            response = await handler(request)
            took = clock() - request.received
            if response.status >= 500 or (took > slow_s and not request.long_running and request.received):
                _log.warning("request", extra=_fields(request, response, took))
            elif every:
                _log.debug("request", extra=_fields(request, response, took))
            return response

        return filter_

    return wrap


def _fields(request: Request, response: Response, took: float) -> dict[str, object]:
    return {
        "verb": request.info.verb or request.method,
        "uri": request.path + ("?" + request.query_string if request.query_string else ""),
        "code": response.status,
        "latency_ms": round(took * 1000, 1) if request.received else 0,
        "user": request.user.name if request.user else "",
        "user_agent": request.headers.get("user-agent", ""),
        "source": request.client_address,
        "audit_id": request.audit_id,
    }
