"""`Orphaning`: lets go of the dependents of an object that is being deleted without them.

Source: pkg/controller/garbagecollector/garbagecollector.go `attemptToOrphanWorker`, `orphanDependents` (1.36).
Otherwise than there, the server is asked for dependents, too: a dependent that was made just before may not be in the
graph yet, and would be deleted for an owner that is gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from sampan.client import ClientError
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.identity import ORPHAN, Identity
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone
from sampan.controllers.garbage_collector.node import Node
from sampan.resource import ResourceInfo

_log: Final = logging.getLogger("sampan.controller.garbage-collector")

REQUESTS_MAX: Final = 20
"""Requests for one owner at a time."""


class Orphaning:
    """Works on the queue of nodes that wait for their dependents to be let go.

    `resources` gives all that dependents may be of, also what was defined just now.
    """

    def __init__(
        self, graph: Graph, objects: LiveObjects, resources: Callable[[], Awaitable[Iterable[ResourceInfo]]]
    ) -> None:
        self._graph = graph
        self._objects = objects
        self._resources = resources

    async def attempt(self, node: Node) -> bool:
        """Take the owner off all of its dependents, then the finalizer off the owner; False: to be tried again."""
        owner = node.identity
        if self._graph.node(owner.uid) is not node:
            return True
        gate = asyncio.Semaphore(REQUESTS_MAX)
        dependents = {dependent.identity for dependent in node.dependents}
        resources = await self._resources()
        for found in await asyncio.gather(*(self._dependents(info, owner, gate) for info in resources)):
            dependents.update(found)
        released = await asyncio.gather(*(self._release(dependent, owner, gate) for dependent in dependents))
        if not all(released):
            return False
        try:
            await self._objects.remove_finalizer(owner, ORPHAN)
        except ObjectGone:
            self._graph.found_absent(owner)
        except ClientError as error:
            _log.warning("the finalizer %s cannot be taken off %s: %s", ORPHAN, owner, error)
            return False
        return True

    async def _dependents(self, info: ResourceInfo, owner: Identity, gate: asyncio.Semaphore) -> list[Identity]:
        """Those that the server knows. A resource that cannot be listed must do with what the graph knows."""
        async with gate:
            try:
                return await self._objects.dependents(info, owner)
            except ClientError as error:
                _log.info("%s cannot be searched for dependents of %s: %s", info.gvr.group_resource, owner, error)
                return []

    async def _release(self, dependent: Identity, owner: Identity, gate: asyncio.Semaphore) -> bool:
        async with gate:
            try:
                await self._objects.remove_owners(dependent, [owner.uid])
            except (ObjectGone, NamespacedOwnerOfClusterObject):
                return True
            except ClientError as error:
                _log.warning("%s cannot be let go of %s: %s", dependent, owner, error)
                return False
        return True
