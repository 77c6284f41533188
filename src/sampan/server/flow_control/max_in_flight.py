"""Limits without priority and fairness: one for reading and one for mutating requests. No request waits.

A request counts until its response is written. A request at the limit takes the seat of a client that does not read;
the bytes of that response count as unread (`server/connections/unread.py`).
Source: apiserver pkg/server/filters/maxinflight.go (1.36).
"""

from typing import Final

from sampan.server.authorization.masters import MASTERS
from sampan.server.flow_control.refusal import too_many_requests
from sampan.server.flow_control.writing import release_when_written
from sampan.server.request import Filter, Handler, Request, Response

RETRY_AFTER_S: Final = 1
_READING: Final = frozenset({"get", "list", "watch"})


class _Limit:
    """Seats of the requests of one kind."""

    __slots__ = ("running", "seats_max", "stalled")

    def __init__(self, seats_max: int) -> None:
        self.seats_max = seats_max
        self.running = 0
        self.stalled: dict[_Seat, None] = {}
        """Seats of responses whose clients do not read, in order of time."""

    def take(self) -> "_Seat | None":
        """Return a seat, or None if each is in use by a client that reads."""
        if self.running >= self.seats_max:
            if not self.stalled:
                return None
            next(iter(self.stalled)).release()
        return _Seat(self)


class _Seat:
    """Seat of one request. Implements `Seat`."""

    __slots__ = ("_limit",)

    def __init__(self, limit: _Limit) -> None:
        self._limit: _Limit | None = limit
        limit.running += 1

    def stall(self) -> None:
        if self._limit is not None:
            self._limit.stalled[self] = None

    def resume(self) -> None:
        if self._limit is not None:
            self._limit.stalled.pop(self, None)

    def release(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            limit.stalled.pop(self, None)
            limit.running -= 1


def without_limits(handler: Handler) -> Handler:
    """Return the handler unchanged: all requests run at once."""
    return handler


def with_max_in_flight(reading_max: int, changing_max: int) -> Filter:
    """Return a filter that refuses requests beyond the limits; 0 for no limit.

    Administrators are never refused, and long-running requests do not count.
    """
    if not (reading_max or changing_max):
        return without_limits

    def wrap(handler: Handler) -> Handler:
        limits = (_Limit(reading_max), _Limit(changing_max))

        async def filter_(request: Request) -> Response:
            limit = limits[request.info.verb not in _READING]
            if request.wire.long_running or not limit.seats_max:
                return await handler(request)
            seat = limit.take()
            if seat is None:
                if request.user is not None and MASTERS in request.user.groups:
                    return await handler(request)
                return too_many_requests(RETRY_AFTER_S)
            request.seat = seat
            try:
                response = await handler(request)
            except BaseException:
                seat.release()
                raise
            release_when_written(response, seat)
            return response

        return filter_

    return wrap
