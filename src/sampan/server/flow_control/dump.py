"""Debugging pages below /debug/api_priority_and_fairness/: tables of levels, queues and requests.

Source: apiserver pkg/util/flowcontrol/apf_controller_debug.go (1.36).
"""

import datetime
from collections.abc import Iterator, Sequence
from typing import Final

from sampan.core.clock import monotonic, utc_now
from sampan.core.time import format_duration
from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.priority_level import PriorityLevel
from sampan.server.flow_control.queues.ticket import Ticket
from sampan.server.request import Request, Response
from sampan.server.routes.routes import Routes
from sampan.server.status import text_response

PREFIX: Final = "/debug/api_priority_and_fairness/"
_LEVELS: Final = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
    "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests",
)  # fmt: skip
_QUEUES: Final = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
    "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
_REQUESTS: Final = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
    "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
_DETAILS: Final = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
_NEVER: Final = "0001-01-01T00:00:00Z"

Row = Sequence[object]


def install_dumps(controller: FlowController, routes: Routes) -> None:
    """Add the three paths. The server's index does not list them."""

    async def levels(request: Request) -> Response:
        return text_response(200, _table(_LEVELS, _level_rows(controller)))

    async def queues(request: Request) -> Response:
        return text_response(200, _table(_QUEUES, _queue_rows(controller)))

    async def requests(request: Request) -> Response:
        if request.wire.param("includeRequestDetails"):
            return text_response(200, _table((*_REQUESTS, *_DETAILS), _request_rows(controller, detailed=True)))
        return text_response(200, _table(_REQUESTS, _request_rows(controller)))

    routes.add(f"{PREFIX}dump_priority_levels", levels, listed=False)
    routes.add(f"{PREFIX}dump_queues", queues, listed=False)
    routes.add(f"{PREFIX}dump_requests", requests, listed=False)


def _level_rows(controller: FlowController) -> Iterator[Row]:
    for level in _levels(controller):
        found = level.queue_set
        active = sum(1 for queue in found.queues() if queue.waiting)
        yield (
            level.name, active, found.idle, level.undesired, found.waiting, found.executing, found.dispatched,
            found.rejected, found.timed_out, found.cancelled,
        )  # fmt: skip


def _queue_rows(controller: FlowController) -> Iterator[Row]:
    for level in _levels(controller):
        for queue in level.queue_set.queues():
            initial = sum(ticket.work.initial_seats for ticket in queue.waiting)
            seats = sum(ticket.seats for ticket in queue.waiting)
            yield (
                level.name, queue.index, len(queue.waiting), len(queue.executing), queue.seats_in_use,
                f"{queue.next_dispatch_r:.8f}ss", initial, seats, f"{queue.work_waiting:.8f}ss",
            )  # fmt: skip


def _request_rows(controller: FlowController, *, detailed: bool = False) -> Iterator[Row]:
    now, began = utc_now(), monotonic()

    def instant(monotonic: float) -> str:
        at = now - datetime.timedelta(seconds=began - monotonic)
        return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"

    def row(level: PriorityLevel, queue: int, place: int, ticket: Ticket) -> Row:
        work, flow = ticket.work, ticket.flow
        return (
            level.name, flow.schema, queue, place, flow.distinguisher, instant(ticket.arrival), work.initial_seats,
            work.final_seats, format_duration(round(work.additional_s * 1e9)),
            instant(ticket.started) if ticket.executing else _NEVER, *(_details(ticket) if detailed else ()),
        )  # fmt: skip

    for level in _levels(controller):
        for queue in level.queue_set.queues():
            yield from (row(level, queue.index, place, ticket) for place, ticket in enumerate(queue.waiting))
            yield from (row(level, queue.index, -1, ticket) for ticket in queue.executing)
        yield from (row(level, -1, -1, ticket) for ticket in level.queue_set.queueless)


def _details(ticket: Ticket) -> Row:
    """Return the columns for user and target of a request."""
    request = ticket.request
    if request is None:
        return ("",) * len(_DETAILS)
    info, user = request.info, request.user
    version = f"{info.group}/{info.version}" if info.group else info.version
    return (
        user.name if user is not None else "", info.verb, info.path, info.namespace, info.name, version, info.resource,
        info.subresource,
    )  # fmt: skip


def _levels(controller: FlowController) -> list[PriorityLevel]:
    return [level for _, level in sorted(controller.levels.items())]


def _table(headers: Sequence[str], rows: Iterator[Row]) -> str:
    """Return a table with aligned columns, separated by commas."""
    lines = [list(headers), *([_cell(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) + 2 for column in range(len(headers))]
    widths[-1] = 0
    return "".join(",".join(_cells(line, widths)) + "\n" for line in lines)


def _cells(line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the cells with padding. A comma follows the text directly, and the padding follows the comma."""
    fill = ""
    for cell, width in zip(line, widths, strict=True):
        yield fill + cell
        fill = " " * max(max(width, 8) - len(cell) - 1, 0)


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
