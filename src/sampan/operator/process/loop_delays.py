"""`OperatorLoopWatch`: logs what blocks the event loop of an operator, and measures the delays.

A blocking call in a reconciler (`time.sleep`, `requests.get`, a long computation) stops all controllers, the probes and
the renewal of the lease. The log names the controller, the object and the line of the call.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily, Metric

from sampan.core.event_loop.watch import LoopWatch
from sampan.operator.controller.context import CURRENT_RECONCILE, RECONCILE_WRAPPER, ReconcileContext


class OperatorLoopWatch(LoopWatch):
    """Detector of a blocked event loop, and the Prometheus collector of the delays."""

    for_developers = frozenset({"cpu_ms"})
    waiting_blocks = True

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__(self._fields_of)
        self._reconciles: dict[asyncio.Task[object], ReconcileContext] = {}
        registry.register(self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch the loop, and the reconciles of controllers that start within the block."""
        token = RECONCILE_WRAPPER.set(self._noted)
        self.start()
        try:
            yield
        finally:
            self.stop()
            RECONCILE_WRAPPER.reset(token)

    def describe(self) -> Iterable[Metric]:
        """Return the metric family without values."""
        return [_family([], 0.0)]

    def collect(self) -> Iterable[Metric]:
        """Return the histogram of delays."""
        series = self.delays.begin(())
        names = [*(f"{bound:g}" for bound in self.delays.buckets), "+Inf"]
        yield _family(list(zip(names, accumulate(series[1:]), strict=True)), series[0])

    async def _noted(self, running: Awaitable[object]) -> object:
        task, context = asyncio.current_task(), CURRENT_RECONCILE.get()
        if task is None or context is None:
            return await running
        self.note_request()
        self._reconciles[task] = context
        try:
            return await running
        finally:
            del self._reconciles[task]

    def _fields_of(self, task: asyncio.Task[object]) -> dict[str, object]:
        context = self._reconciles.get(task)
        return {} if context is None else {**context.fields()}


def _family(buckets: list[tuple[str, float]], total: float) -> HistogramMetricFamily:
    about = "Delay of a timer of the event loop that is due every 50 ms."
    if not buckets:
        return HistogramMetricFamily("sampan_event_loop_delay_seconds", about)
    return HistogramMetricFamily("sampan_event_loop_delay_seconds", about, buckets=buckets, sum_value=total)
