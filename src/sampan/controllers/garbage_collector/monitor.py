"""`Monitor`: adds all objects of one resource to the graph. It keeps only their UIDs.

Concurrency: `run` owns two tasks: a reflector that lists and watches, and one that applies its events to the graph. An
`InOrderQueue` between them bounds how far the reflector can get ahead.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from sampan.client import Client, Forbidden, MethodNotAllowed, NotFound
from sampan.client.objects.partial_metadata import partial_metadata
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import StateReader
from sampan.informer.queues.delta import DeltaType
from sampan.informer.queues.in_order_queue import InOrderQueue
from sampan.informer.ref import Ref, RefReader, last_known
from sampan.informer.reflector.reflector import Reflector
from sampan.informer.reflector.watch_failure import WatchFailure, log_watch_error
from sampan.informer.settings import ReflectorSettings
from sampan.resource import ResourceInfo

_log: Final = logging.getLogger("sampan.controller.garbage-collector")
_YIELD_EVERY: Final = 200
"""Number of listed objects after which the task yields to other tasks."""


class Monitor:
    """Monitor of one resource. `uids`: the objects that a monitor of another version of this resource has found."""

    def __init__(
        self,
        client: Client,
        info: ResourceInfo,
        graph: Graph,
        on_change: Callable[[], None],
        uids: Iterable[str] = (),
        *,
        settings: ReflectorSettings | None = None,
    ) -> None:
        """Create the monitor; `on_change` is called after each change except the first list."""
        self.info = info
        self.settled = asyncio.Event()
        """Set once the first list is in the graph, or the server has refused to list the resource."""
        self.uids: set[str] = set(uids)
        """UIDs of the objects in the graph."""
        self._graph = graph
        self._on_change = on_change
        self._states = StateReader(info)
        self._queue: InOrderQueue[Any] = InOrderQueue()
        objects = client.resource(info, namespace="").metadata_only()
        # Managed fields are dropped with the rest of the object, so removing them separately would waste time.
        reader = RefReader(partial_metadata(info), keep_managed_fields=True)
        self._reflector = Reflector(objects.list_watch(), self._queue, reader, settings=settings)
        self._reflector.on_error = self._on_failure

    async def run(self) -> None:
        """Update the graph until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reflector.run(), name=f"garbage collector: {self.info.gvr.group_resource}")
            while True:
                for delta in (await self._queue.pop_batch()).deltas:
                    if delta.type is DeltaType.REPLACED_ALL:
                        await self._replace(delta.refs)
                    elif delta.obj is not None:
                        self._apply(delta.type, last_known(delta.obj))
                await asyncio.sleep(0)

    def _apply(self, change: DeltaType, ref: Ref[Any]) -> None:
        state = self._states.read(ref.raw)
        if change is DeltaType.DELETED:
            self._graph.remove(state.identity)
            self.uids.discard(state.identity.uid)
        else:
            self.uids.add(self._graph.observe(state).identity.uid)
        self._on_change()

    async def _replace(self, refs: Sequence[Ref[Any]]) -> None:
        present: set[str] = set()
        for index, ref in enumerate(refs, 1):
            present.add(self._graph.observe(self._states.read(ref.raw), listed=True).identity.uid)
            if not index % _YIELD_EVERY:
                await asyncio.sleep(0)
        for uid in self.uids - present:
            node = self._graph.node(uid)
            if node is not None:
                self._graph.remove(node.identity)
        self.uids = present
        if self.settled.is_set():
            self._on_change()
        self.settled.set()

    def _on_failure(self, failure: WatchFailure) -> None:
        """Mark a resource that cannot be listed as settled, so that the collector does not wait for it."""
        if isinstance(failure.error, Forbidden | NotFound | MethodNotAllowed):
            self.settled.set()
            _log.debug("cannot watch a resource: %s", failure)
        else:
            log_watch_error(failure)
