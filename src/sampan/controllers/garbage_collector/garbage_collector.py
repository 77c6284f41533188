"""`GarbageCollector`: the controller that deletes objects whose owners are gone.

Concurrency: `run` owns all tasks: one that follows discovery, those of the monitors, and the workers of two queues.
The monitors' tasks change the graph synchronously, without await. The queues hold each node once, so the size of the
graph bounds them. All state is read from the server at the start, so the collector may be stopped at any time.
Source: pkg/controller/garbagecollector/garbagecollector.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from prometheus_client import Counter

from sampan.client import ClientError
from sampan.client.discovery.discover import discover
from sampan.client.discovery.rest_mapper import RESTMapper
from sampan.component_base.context import ControllerContext
from sampan.controllers.garbage_collector.deletion import DeletionWorker
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import ObjectIdentity, OwnerRef
from sampan.controllers.garbage_collector.live_objects import LiveObjects
from sampan.controllers.garbage_collector.monitors import Monitors, watchable
from sampan.controllers.garbage_collector.orphaning import Orphaning
from sampan.operator.events.event import ObjectReference
from sampan.operator.failures.error_text import one_line, retry_level, traceback_of
from sampan.operator.queue import ItemExponentialFailureRateLimiter, WorkQueue, WorkQueueMetrics
from sampan.resource import ResourceInfo

NAME: Final = "garbage-collector-controller"
WORKERS: Final = 20
"""Number of workers for each of the two queues."""
INITIAL_SYNC_S: Final = 30.0
RETRY_S_MAX: Final = 60.0
"""Longest delay between retries. An unknown kind may be defined later, so retries never stop."""
_SETTLING_S: Final = 0.1
"""Delay after a change of resource definitions, so that one discovery covers several changes."""
_RETRY_S: Final = 0.5
_YIELD_EVERY: Final = 100

_log: Final = logging.getLogger("sampan.controller.garbage-collector")


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    context.manager.add(GarbageCollector(context))


class GarbageCollector:
    """Watches the metadata of all deletable resources, and deletes garbage. An instance runs only once."""

    def __init__(self, context: ControllerContext, *, initial_sync_s: float = INITIAL_SYNC_S) -> None:
        """Create the collector; after `initial_sync_s` the workers start even if some lists are missing."""
        client = self._client = context.manager.client.direct
        self._recorder = context.recorder(NAME)
        self._initial_sync_s = initial_sync_s
        self._to_delete = _queue("garbage_collector_attempt_to_delete", context.manager.queue_metrics)
        self._to_orphan = _queue("garbage_collector_attempt_to_orphan", context.manager.queue_metrics)
        self._sync_errors = Counter(
            "garbagecollector_controller_resources_sync_error",
            "Number of failures to discover the server's resources",
            registry=context.manager.registry,
        )
        self.graph = Graph(self._to_delete, self._to_orphan, self._report)
        # The collector has a separate mapper, so that changes in discovery are visible immediately.
        self._mapper = RESTMapper(lambda: discover(client.rest))
        objects = LiveObjects(client, self._mapper)
        self._deletion = DeletionWorker(self.graph, objects, self._to_delete)
        self._orphaning = Orphaning(self.graph, objects, self._resources)
        self._redefined = asyncio.Event()
        informers = context.manager.options.informer_settings
        reflectors = None if informers is None else informers.reflector
        self._monitors = Monitors(client, self.graph, self._redefined.set, reflectors)
        self._discovery_period_s = context.discovery_period_s
        self._discovered = asyncio.Event()
        self._synced = asyncio.Event()

    def __str__(self) -> str:
        return f"controller {NAME}"

    async def ready(self) -> None:
        """Wait until the graph contains all listed objects."""
        await self._synced.wait()

    async def run(self) -> None:
        """Collect garbage until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_discovery(tasks))
            await self._wait_for_lists()
            self._synced.set()
            _log.debug("%s started, its caches have synced", self, extra={"controller": NAME})
            for _ in range(WORKERS):
                tasks.create_task(_work(self._to_delete, self._deletion.attempt))
                tasks.create_task(_work(self._to_orphan, self._orphaning.attempt))

    async def _wait_for_lists(self) -> None:
        """Wait for the initial lists.

        If workers started earlier, an owner could be deleted before all of its dependents are in the graph.
        """
        try:
            async with asyncio.timeout(self._initial_sync_s):
                await self._discovered.wait()
                for monitor in self._monitors:
                    await monitor.settled.wait()
        except TimeoutError:
            late = [str(monitor.info.gvr.group_resource) for monitor in self._monitors if not monitor.settled.is_set()]
            _log.warning(
                "initial lists are incomplete, starting workers anyway; missing: %s", ", ".join(late) or "discovery"
            )

    async def _follow_discovery(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._redefined.clear()
            period_s = self._discovery_period_s
            try:
                # The mapper caches discovery, and a new CRD is what this loop looks for.
                self._mapper.invalidate()
                self._monitors.sync(await self._mapper.discovered(), tasks)
                self._discovered.set()
            except ClientError as error:
                self._sync_errors.inc()
                _log.warning("cannot discover the server's resources: %s", error)
                period_s = _RETRY_S
            try:
                async with asyncio.timeout(period_s):
                    await self._redefined.wait()
                    # A Helm chart may define dozens of kinds at once: one discovery serves all.
                    await asyncio.sleep(_SETTLING_S)
            except TimeoutError:
                pass

    async def _resources(self) -> Iterable[ResourceInfo]:
        """Return the watched resources and those defined since the last discovery."""
        known = {monitor.info.gvr: monitor.info for monitor in self._monitors}
        try:
            # A kind defined seconds ago may already have dependents that must be orphaned.
            known.update(watchable(await discover(self._client.rest)))
        except ClientError as error:
            _log.info("cannot discover the server's new resources: %s", error)
        return known.values()

    def _report(self, dependent: ObjectIdentity, owner: OwnerRef) -> None:
        regarding = ObjectReference(
            dependent.api_version, dependent.kind, dependent.namespace, dependent.name, dependent.uid
        )
        reference = ObjectIdentity(*owner[:4], dependent.namespace)
        note = f'ownerRef {reference} does not exist in namespace "{dependent.namespace}"'
        self._recorder.warning(regarding, "OwnerRefInvalidNamespace", note)


def _queue(name: str, metrics: WorkQueueMetrics) -> WorkQueue[GraphNode]:
    limiter = ItemExponentialFailureRateLimiter(max_delay_s=RETRY_S_MAX)
    return WorkQueue(name, rate_limiter=limiter, metrics=metrics)


async def _work(queue: WorkQueue[GraphNode], attempt: Callable[[GraphNode], Awaitable[bool]]) -> None:
    """Run one worker. A node that is not finished is retried with backoff."""
    count = 0
    while True:
        node = await queue.get()
        try:
            done = await attempt(node)
        except Exception as error:
            text = "cannot process %r; retrying: %s"
            _log.log(retry_level(error), text, node, one_line(error), exc_info=traceback_of(error))
            # A bug in one object must not end the worker, which would leave all other garbage.
            done = False
        if done:
            queue.forget(node)
        else:
            queue.add_rate_limited(node)
        queue.done(node)
        count += 1
        # `get` does not wait while the queue is full, and an attempt may need no I/O.
        if not count % _YIELD_EVERY:
            await asyncio.sleep(0)
