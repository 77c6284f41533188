"""A controller with a source that tests hold in their hands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from sampan.operator.controller import Controller, ControllerMetrics, ControllerOptions
from sampan.operator.queue import WorkQueue
from sampan.operator.reconciler import ReconcileFunction, Reconciler
from sampan.operator.request import Request
from sampan.testing.time.virtual_time import settle

A = Request("default", "a")
B = Request("default", "b")


class NoSource:
    """Source that is synced and has no events: tests use the controller's queue."""

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        synced.set()
        await asyncio.get_running_loop().create_future()


class Bench:
    """A controller called c at work, with its metrics."""

    def __init__(self, reconciler: Reconciler | ReconcileFunction, options: ControllerOptions) -> None:
        self.registry = CollectorRegistry()
        self.controller = Controller("c", reconciler, options=options, metrics=ControllerMetrics(self.registry))
        self.controller.watch(NoSource())

    def add(self, *requests: Request) -> None:
        for request in requests:
            self.controller.queue.add(request)

    def metric(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"controller_runtime_{name}", {"controller": "c", **labels})


@asynccontextmanager
async def at_work(
    reconciler: Reconciler | ReconcileFunction, options: ControllerOptions = ControllerOptions()
) -> AsyncIterator[Bench]:
    """Run a controller as long as the context lasts."""
    bench = Bench(reconciler, options)
    task = asyncio.create_task(bench.controller.run())
    await settle()
    try:
        yield bench
    finally:
        task.cancel()
        await asyncio.wait({task})
