"""`Monitor`: tells the graph of all objects of one resource. It keeps nothing of them but their uids.

Concurrency: `run` owns two tasks: a reflector, which lists and watches, and one that takes its events to the graph. In
between is an `InOrderQueue`, which bounds how far the reflector may be ahead.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from sampan.client import Client, Forbidden, MethodNotAllowed, NotFound
from sampan.client.partial_metadata import partial_metadata
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import StateReader
from sampan.informer.delta import DeltaType
from sampan.informer.in_order_queue import InOrderQueue
from sampan.informer.ref import Ref, RefReader, last_known
from sampan.informer.reflector import Reflector
from sampan.informer.watch_failure import WatchFailure, log_watch_error
from sampan.resource import ResourceInfo

_log: Final = logging.getLogger("sampan.controller.garbage-collector")
_TURN: Final = 200
"""Objects of a list after which other tasks get their turn."""


class Monitor:
    """The objects of one resource. `uids` are those that were known by another version of it."""

    def __init__(
        self, client: Client, info: ResourceInfo, graph: Graph, on_change: Callable[[], None], uids: Iterable[str] = ()
    ) -> None:
        """`on_change` is called after each change, but not for the first list."""
        self.info = info
        self.settled = asyncio.Event()
        """Set when all of a first list is in the graph, or the server has said that there will be none."""
        self.uids: set[str] = set(uids)
        """The objects that are in the graph."""
        self._graph = graph
        self._on_change = on_change
        self._states = StateReader(info)
        self._queue: InOrderQueue[Any] = InOrderQueue()
        objects = client.resource(info, namespace="").metadata_only()
        # The managed fields go with all the rest; to cut them out first would be work for nothing.
        reader = RefReader(partial_metadata(info), keep_managed_fields=True)
        self._reflector = Reflector(objects.list_watch(), self._queue, reader)
        self._reflector.on_error = self._failed

    async def run(self) -> None:
        """Tell the graph, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reflector.run(), name=f"garbage collector: {self.info.gvr.group_resource}")
            while True:
                for delta in (await self._queue.pop_batch()).deltas:
                    if delta.type is DeltaType.REPLACED_ALL:
                        await self._replace(delta.refs)
                    elif delta.obj is not None:
                        self._take_in(delta.type, last_known(delta.obj))
                await asyncio.sleep(0)

    def _take_in(self, change: DeltaType, ref: Ref[Any]) -> None:
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
            if not index % _TURN:
                await asyncio.sleep(0)
        for uid in self.uids - present:
            node = self._graph.node(uid)
            if node is not None:
                self._graph.remove(node.identity)
        self.uids = present
        if self.settled.is_set():
            self._on_change()
        self.settled.set()

    def _failed(self, failure: WatchFailure) -> None:
        """Do not let the graph wait for a resource that cannot be listed."""
        if isinstance(failure.error, Forbidden | NotFound | MethodNotAllowed):
            self.settled.set()
            _log.debug("%s", failure)
        else:
            log_watch_error(failure)
