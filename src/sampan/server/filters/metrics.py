"""Count and time requests. Source: apiserver pkg/endpoints/metrics/metrics.go (1.36)."""

import asyncio
from collections.abc import Callable

from sampan.server.metrics import Labels, ServerMetrics, is_mutating
from sampan.server.request import Filter, Handler, Request, Response


def with_metrics(metrics: ServerMetrics) -> Filter:
    """Record every answer in `metrics`; a stream counts as open until its transport has finished it."""
    in_flight = metrics.in_flight

    def wrap(handler: Handler) -> Handler:
        clock: Callable[[], float] | None = None

        async def filter_(request: Request) -> Response:
            nonlocal clock
            if clock is None:
                clock = asyncio.get_running_loop().time
            kind = "mutating" if is_mutating(request) else "readOnly"
            started = clock()
            in_flight[kind] += 1
            try:
                response = await handler(request)
            finally:
                in_flight[kind] -= 1
            labels = metrics.record(request, response, clock() - started)
            if response.stream is not None:
                _count_stream(metrics.long_running, labels, response)
            return response

        return filter_

    return wrap


def _count_stream(open_streams: dict[Labels, int], labels: Labels, response: Response) -> None:
    open_streams[labels] = open_streams.get(labels, 0) + 1
    before = response.finished

    def finished() -> None:
        open_streams[labels] -= 1
        if before is not None:
            before()

    response.finished = finished
