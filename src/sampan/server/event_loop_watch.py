"""`LoopWatch`: detects when the event loop is blocked, and logs the request that blocks it."""

import asyncio
from collections.abc import Callable, Iterable

from prometheus_client.core import HistogramMetricFamily, Metric

from sampan.core.event_loop import watch as loop_watch
from sampan.core.event_loop.watch import BLOCK_S, INTERVAL_S
from sampan.server.instruments.histogram import cumulative
from sampan.server.request import Request

_NAME = "sampan_event_loop_delay_seconds"
RequestOf = Callable[[asyncio.Task[object]], Request | None]


class LoopWatch(loop_watch.LoopWatch):
    """Detector of a blocked event loop, and the Prometheus collector of the delays."""

    for_developers = loop_watch.LoopWatch.for_developers | {"body_bytes", "audit_id"}

    def __init__(self, request_of: RequestOf, *, interval_s: float = INTERVAL_S, block_s: float = BLOCK_S) -> None:
        """`request_of` returns the request that a task serves, or None."""
        super().__init__(self._fields_of, interval_s=interval_s, block_s=block_s)
        self._request_of = request_of

    def _fields_of(self, task: asyncio.Task[object]) -> dict[str, object]:
        request = self._request_of(task)
        if request is None:
            return {}
        return {
            "method": request.wire.method,
            "path": request.wire.path,
            "user": "" if request.user is None else request.user.name,
            "body_bytes": max(request.body_size_bytes, 0),
            "audit_id": request.audit_id,
        }

    def collect(self) -> Iterable[Metric]:
        """Return the histogram of delays."""
        series = self.delays.begin(())
        yield HistogramMetricFamily(
            _NAME,
            "Delay of a timer of the event loop that is due every 50 ms.",
            buckets=cumulative(self.delays.buckets, series[1:]),
            sum_value=series[0],
        )
