"""Limits without priority and fairness: one for reading and one for mutating requests. No request waits.

Source: apiserver pkg/server/filters/maxinflight.go (1.36).
"""

from typing import Final

from sampan.server.authorization.masters import MASTERS
from sampan.server.flow_control.refusal import too_many_requests
from sampan.server.request import Filter, Handler, Request, Response

RETRY_AFTER_S: Final = 1
_READING: Final = frozenset({"get", "list", "watch"})


def without_limits(handler: Handler) -> Handler:
    """Return the handler unchanged: all requests run at once."""
    return handler


def with_max_in_flight(reading_max: int, changing_max: int) -> Filter:
    """Return a filter that refuses requests beyond the limits; 0 for no limit.

    Administrators are never refused, and long-running requests do not count.
    """
    limits = (reading_max, changing_max)
    if not any(limits):
        return without_limits

    def wrap(handler: Handler) -> Handler:
        running = [0, 0]

        async def filter_(request: Request) -> Response:
            kind = request.info.verb not in _READING
            if request.wire.long_running or not limits[kind]:
                return await handler(request)
            if running[kind] >= limits[kind]:
                if request.user is not None and MASTERS in request.user.groups:
                    return await handler(request)
                return too_many_requests(RETRY_AFTER_S)
            running[kind] += 1
            try:
                return await handler(request)
            finally:
                running[kind] -= 1

        return filter_

    return wrap
