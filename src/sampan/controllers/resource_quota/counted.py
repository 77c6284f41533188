"""Resources whose objects quotas only count. Each is watched once the first quota limits it.

Concurrency: `run` only waits for its cancellation. Informers of metadata, which the manager runs, queue requests.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sampan.client import NoMatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS, SECRETS
from sampan.informer.ref import Ref
from sampan.informer.store.indexer import NAMESPACE_INDEX
from sampan.operator.handlers import EnqueueHandler, MapFunction
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request
from sampan.operator.source import HandlerRegistration
from sampan.resource import ResourceInfo

_COUNT = "count/"
_BY_NAME = {each.gvr.resource: each for each in (CONFIG_MAPS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS, SECRETS)}


class CountedObjects:
    """Source of requests for the creation and deletion of counted objects."""

    def __init__(self, context: ControllerContext, map_function: MapFunction[Any]) -> None:
        self._manager = context.manager
        self._map = map_function
        self._queue: WorkQueue[Request] | None = None
        self._registrations: dict[ResourceInfo, HandlerRegistration] = {}

    def __str__(self) -> str:
        return "counted resources"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Wait until cancelled. `synced` is set immediately: the resources are added when quotas are reconciled."""
        self._queue = queue
        synced.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for registration in self._registrations.values():
                registration.remove()

    async def resource(self, limit: str) -> ResourceInfo | None:
        """Return the resource whose objects a limit counts.

        Return None if the limit does not count objects, or the server has no such resource.
        """
        name = limit.removeprefix(_COUNT)
        if name in _BY_NAME:
            return _BY_NAME[name]
        if not limit.startswith(_COUNT):
            return None
        try:
            return await self._manager.client.direct.mapper.resource_for(name)
        except NoMatch:
            return None

    async def refs(self, resource: ResourceInfo, namespace: str) -> Sequence[Ref[Any]]:
        """Return the objects in a namespace. The first call for a resource starts its informer and waits for it."""
        informer = self._manager.metadata_informer_for(resource)
        if resource not in self._registrations and self._queue is not None:
            created_or_deleted = PredicateFuncs[Any](None, lambda _old, _new: False, None)
            handler: EnqueueHandler[Any] = EnqueueHandler(self._queue, self._map, [created_or_deleted])
            self._registrations[resource] = informer.add_handler(handler)
        await informer.synced()
        return informer.indexer.by_index(NAMESPACE_INDEX, namespace)
