"""`Orphaning`: removes the owner reference from the dependents of an object that is deleted without them.

Source: pkg/controller/garbagecollector/garbagecollector.go `attemptToOrphanWorker`, `orphanDependents` (1.36).

Unlike in Kubernetes, the server is also searched for dependents. A new dependent may not be in the graph yet, and would
later be deleted because its owner is gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from sampan.client import ClientError
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import ORPHAN, ObjectIdentity
from sampan.controllers.garbage_collector.live_objects import LiveObjects, NamespacedOwnerOfClusterObject, ObjectGone
from sampan.resource import ResourceInfo

_log: Final = logging.getLogger("sampan.controller.garbage-collector")

REQUESTS_MAX: Final = 20
"""Highest number of concurrent requests for one owner."""


class Orphaning:
    """Processes the queue of nodes whose dependents must be orphaned.

    `resources` returns all resources that may have dependents, including those defined only recently.
    """

    def __init__(
        self, graph: Graph, objects: LiveObjects, resources: Callable[[], Awaitable[Iterable[ResourceInfo]]]
    ) -> None:
        self._graph = graph
        self._objects = objects
        self._resources = resources

    async def attempt(self, node: GraphNode) -> bool:
        """Orphan all dependents, then remove the finalizer from the owner. Return False if it must be retried."""
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
            _log.warning("cannot remove finalizer %s from %s; retrying: %s", ORPHAN, owner, error)
            return False
        return True

    async def _dependents(
        self, info: ResourceInfo, owner: ObjectIdentity, gate: asyncio.Semaphore
    ) -> list[ObjectIdentity]:
        """Return the dependents on the server. If the resource cannot be listed, return those in the graph."""
        async with gate:
            try:
                return await self._objects.dependents(info, owner)
            except ClientError as error:
                _log.info("cannot search %s for dependents of %s: %s", info.gvr.group_resource, owner, error)
                return []

    async def _release(self, dependent: ObjectIdentity, owner: ObjectIdentity, gate: asyncio.Semaphore) -> bool:
        async with gate:
            try:
                await self._objects.remove_owners(dependent, [owner.uid])
            except (ObjectGone, NamespacedOwnerOfClusterObject):
                return True
            except ClientError as error:
                _log.warning("cannot orphan %s from %s; retrying: %s", dependent, owner, error)
                return False
        return True
