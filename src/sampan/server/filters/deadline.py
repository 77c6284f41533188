"""Deadlines: a request that is not long-running gets a response in time, or 504.

`Deadlines.run()` checks all requests once a second, so the common limit needs no timer for each request. It sleeps
while no request has a deadline. Only a shorter `?timeout=` uses a timer.
Source: apiserver pkg/endpoints/filters/request_deadline.go, pkg/server/filters/timeout.go (1.36).
"""

import asyncio
from collections.abc import Callable

from sampan.core.errors import StatusError, bad_request, timeout
from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration
from sampan.server.request import Handler, Request, Response

REQUEST_TIMEOUT_S = 60.0
WRITE_TIMEOUT_S = 34.0
"""Timeout in seconds of a write to one object, unless the server's limit is lower. Source: endpoints/handlers/rest.go
(1.36).
"""
SWEEP_INTERVAL_S = 1.0
_WRITES = frozenset({"create", "update", "patch", "delete"})


class Deadlines:
    """Requests with a deadline. One task runs `run()`; the filter adds and removes requests.

    The first request after an idle phase calls `after_idle`.
    """

    def __init__(self, maximum_s: float = REQUEST_TIMEOUT_S, *, after_idle: Callable[[], None] | None = None) -> None:
        self.maximum_s = maximum_s
        self._after_idle = after_idle
        self._under_way: dict[asyncio.Task[object], Request] = {}
        self._expired: set[asyncio.Task[object]] = set()
        self._idle: asyncio.Future[None] | None = None
        """Future that the next request completes. None while requests are checked."""

    async def run(self) -> None:
        """Cancel late requests. Runs until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            if not self._under_way:
                self._idle = loop.create_future()
                await self._idle
            await asyncio.sleep(SWEEP_INTERVAL_S)
            self.expire(loop.time())

    def _begin_checks(self) -> None:
        idle, self._idle = self._idle, None
        if idle is not None and not idle.done():
            idle.set_result(None)
            if self._after_idle is not None:
                self._after_idle()

    def expire(self, now: float) -> None:
        """Cancel the requests whose deadline is before loop time `now`."""
        for task, request in list(self._under_way.items()):
            if request.deadline < now and task not in self._expired:
                self._expired.add(task)
                task.cancel()

    def under_way(self) -> list[Request]:
        """Return the requests that have a deadline and no response yet."""
        return list(self._under_way.values())

    def request_of(self, task: asyncio.Task[object]) -> Request | None:
        """Return the request of a task. May be called from any thread."""
        return self._under_way.get(task)

    def filter(self, handler: Handler) -> Handler:
        """Set `request.deadline` and enforce it."""
        under_way, maximum_s = self._under_way, self.maximum_s
        write_s = min(maximum_s, WRITE_TIMEOUT_S)
        current_task = asyncio.current_task

        async def filter_(request: Request) -> Response:
            if request.wire.long_running:
                return await handler(request)
            if "timeout" in request.wire.query:
                limit_s = _timeout_s(request, maximum_s)
                if limit_s < maximum_s:
                    return await _within(handler, request, limit_s)
            task = current_task()
            if task is None:
                raise RuntimeError("the deadline filter runs in a task")
            limited = request.info.is_resource and request.info.verb in _WRITES
            request.deadline = request.wire.received + (write_s if limited else maximum_s)
            under_way[task] = request
            if self._idle is not None:
                self._begin_checks()
            try:
                return await handler(request)
            except asyncio.CancelledError:
                if task not in self._expired:
                    raise
                task.uncancel()
                raise _late(request) from None
            finally:
                del under_way[task]
                if self._expired:
                    self._expired.discard(task)

        return filter_


async def _within(handler: Handler, request: Request, limit_s: float) -> Response:
    request.deadline = request.wire.received + limit_s
    limit = asyncio.timeout_at(request.deadline)
    try:
        async with limit:
            return await handler(request)
    except TimeoutError:
        if not limit.expired():
            raise
        raise _late(request) from None


def _timeout_s(request: Request, maximum_s: float) -> float:
    text = request.wire.param("timeout")
    if not text:
        return maximum_s
    try:
        desired = parse_duration(text) / NANOSECONDS_PER_SECOND
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from None
    return desired if 0 < desired < maximum_s else maximum_s


def _late(request: Request) -> StatusError:
    request.terminated = True
    return timeout("request did not complete within the allotted timeout")
