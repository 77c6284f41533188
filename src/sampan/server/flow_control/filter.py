"""Filter of priority and fairness: a request runs when its level has a seat for it, or is refused with 429.

Each request waits in its own coroutine until it is dispatched, times out or is cancelled. It holds its seats until its
response is written, and a watch until its initial objects are. A client that does not read keeps no seat from others:
while requests wait, they take it, and the bytes of the response count as unread (`server/connections/unread.py`).
Source: apiserver pkg/server/filters/priority-and-fairness.go (1.36).
"""

import asyncio
from functools import partial
from typing import Final

from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.estimation.watch_counts import WatchCounts
from sampan.server.flow_control.queues.queue_set import HeldSeat, QueueSet
from sampan.server.flow_control.queues.ticket import Ticket
from sampan.server.flow_control.refusal import too_many_requests
from sampan.server.flow_control.writing import release_when_written
from sampan.server.request import Filter, Handler, Request, Response

WAIT_MAX_S: Final = 60.0
_TIMEOUT_DIVISOR: Final = 4
"""Divisor of a request's timeout. The result is its maximum waiting time."""


def with_priority_and_fairness(controller: FlowController) -> Filter:
    """Return a filter that queues or refuses requests. Long-running requests other than watches always run."""

    def wrap(handler: Handler) -> Handler:
        classify, estimate = controller.classify, controller.estimator.estimate

        async def filter_(request: Request) -> Response:
            user = request.user
            watching = request.info.verb == "watch"
            if user is None or (request.wire.long_running and not watching):
                return await handler(request)
            flow, level, headers = classify(user, request.info)
            request.response_headers += headers
            work = estimate(request, level.seats_max, flow.stats)
            flow.stats.seats.observe(work.initial_seats)
            queue_set = level.queue_set
            ticket = queue_set.start(flow, work)
            controller.note_request()
            if ticket is not None:
                ticket.request = request
            if ticket is None or not (
                ticket.executing or await _wait_for_dispatch(queue_set, ticket, request, controller)
            ):
                request.terminated = True
                return too_many_requests(controller.dropped.record(level.name))
            seat = request.seat = HeldSeat(queue_set, ticket, watching)
            if watching:
                request.initial_sent = seat.release
            try:
                response = await handler(request)
            except BaseException:
                seat.release()
                raise
            release_when_written(response, seat)
            if watching and response.stream is not None:
                _count_watch(controller.watches, request, response)
            return response

        return filter_

    return wrap


def _waiting_deadline(request: Request, controller: FlowController) -> float:
    """Return the loop time until which the request may wait."""
    limit_s = controller.settings.request_timeout_s
    if request.deadline:
        limit_s = request.deadline - request.wire.received
    return request.wire.received + min(limit_s / _TIMEOUT_DIVISOR, WAIT_MAX_S)


async def _wait_for_dispatch(queue_set: QueueSet, ticket: Ticket, request: Request, controller: FlowController) -> bool:
    """Wait until the request may run. Return False if it timed out and left the queue."""
    loop = asyncio.get_running_loop()
    began, until = loop.time(), _waiting_deadline(request, controller)
    dispatched: asyncio.Future[None] = loop.create_future()

    def on_dispatch() -> None:
        if not dispatched.done():
            dispatched.set_result(None)

    ticket.on_dispatch = on_dispatch
    try:
        async with asyncio.timeout_at(until):
            await dispatched
    except TimeoutError:
        pass
    except BaseException:
        if ticket.executing:
            queue_set.finish(ticket)
        else:
            queue_set.leave(ticket, "cancelled")
        raise
    if not ticket.executing:
        queue_set.leave(ticket, "time-out")
    request.latencies["apf-queue-wait"] = loop.time() - began
    return ticket.executing


def _count_watch(watches: WatchCounts, request: Request, response: Response) -> None:
    """Count the watch while its stream is open."""
    scope = watches.add(request.info)
    if scope is None:
        return
    response.at_end(partial(watches.forget, scope))
