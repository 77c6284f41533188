"""Seats of a request: for a list by the amount of data, for a write by the number of watches, else one.

Source: apiserver pkg/util/flowcontrol/request/{width,list_work_estimator,mutating_work_estimator}.go (1.36).
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from sampan.server.flow_control.estimation.watch_counts import WatchCounts
from sampan.server.flow_control.queues.ticket import ONE_SEAT, FlowStats, Work
from sampan.server.request import Request, RequestInfo

LIST_SEATS_MAX: Final = 100
WRITE_SEATS_MAX: Final = 10
WATCHES_PER_SEAT: Final = 10
BYTES_PER_SEAT: Final = 100_000
STREAMED_BYTES_MAX: Final = 1_000_000
"""Maximum size of a list in estimates. Larger lists need no more memory, because they are streamed from the cache."""

EVENT_S: Final = 0.0005
"""Seconds for which a write holds each seat that its watch events need.

Kubernetes uses 5 ms. Here it is lower, because an event is encoded once for all watches with the same encoding.
"""
_WRITES: Final = frozenset({"create", "update", "patch", "delete"})


class ObjectStats(NamedTuple):
    """Number and size of a resource's objects."""

    stored: int
    """Number of objects."""
    average_bytes: int


StatsOf = Callable[[str, str], ObjectStats | None]
"""Returns the statistics of a group and resource, or None if nothing is stored."""


class WorkEstimator:
    """Estimates the work of requests from the stored objects (`stats_of`) and the open watches (`watches`)."""

    def __init__(self, stats_of: StatsOf, watches: WatchCounts) -> None:
        self._stats_of = stats_of
        self._watches = watches

    def estimate(self, request: Request, seats_max: int, stats: FlowStats) -> Work:
        """Return the work of a request. Record the number of watches of a write in `stats`.

        `seats_max` is the level's maximum for one request; 0 for no maximum.
        """
        info = request.info
        verb = info.verb
        if not info.is_resource or verb == "get":
            return ONE_SEAT
        if verb in _WRITES:
            return self._of_write(info, seats_max, stats)
        if verb == "list" or (verb == "watch" and _sends_initial_objects(request)):
            return self._of_list(request, seats_max)
        return ONE_SEAT

    def _of_write(self, info: RequestInfo, seats_max: int, stats: FlowStats) -> Work:
        if info.subresource == "token":
            return ONE_SEAT
        watches = self._watches.count(info)
        stats.watch_counts.observe(watches)
        # Few watches: the write's own seat covers the cost of its events.
        if watches < WATCHES_PER_SEAT:
            return ONE_SEAT
        desired = math.ceil(watches / WATCHES_PER_SEAT)
        seats = min(desired, seats_max or WRITE_SEATS_MAX, WRITE_SEATS_MAX)
        # The additional time shrinks with more seats, so the product is the work of sending all events.
        return Work(1, seats, desired * EVENT_S / seats)

    def _of_list(self, request: Request, seats_max: int) -> Work:
        info = request.info
        stats = self._stats_of(info.group, info.resource)
        if stats is None:
            return ONE_SEAT
        count = stats.stored
        if info.name:
            # A list with a field selector for a name returns one object at most.
            count = min(count, 1)
        else:
            limit = request.wire.param("limit")
            if limit.isascii() and limit.isdigit() and 0 < int(limit[:18]) < count:
                count = int(limit[:18])
        seats = math.ceil(min(count * stats.average_bytes, STREAMED_BYTES_MAX) / BYTES_PER_SEAT)
        return ONE_SEAT if seats <= 1 else Work(min(seats, seats_max or LIST_SEATS_MAX, LIST_SEATS_MAX))


def _sends_initial_objects(request: Request) -> bool:
    """Return True if a watch begins with all current objects."""
    if request.wire.param("sendInitialEvents") in ("true", "1"):
        return True
    return request.wire.param("resourceVersion") in ("", "0")
