"""The resources of which quotas count the objects and nothing more; watched as soon as a quota asks for them.

Concurrency: `run` waits for its end; informers of metadata, which the manager runs, put requests into the queue.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sampan.client import NoMatch
from sampan.informer.indexer import NAMESPACE_INDEX
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CONFIG_MAPS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS, SECRETS
from sampan.operator.handlers import EnqueueHandler, MapFunction
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request
from sampan.operator.source import Registration
from sampan.resource import ResourceInfo

_COUNT = "count/"
_BY_NAME = {each.gvr.resource: each for each in (CONFIG_MAPS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS, SECRETS)}


class Counted:
    """A source of requests: objects of such resources come and go."""

    def __init__(self, context: ControllerContext, map_function: MapFunction[Any]) -> None:
        self._manager = context.manager
        self._map = map_function
        self._queue: WorkQueue[Request] | None = None
        self._registrations: dict[ResourceInfo, Registration] = {}

    def __str__(self) -> str:
        return "counted resources"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Synced at once: what quotas ask for is found when they are looked at."""
        self._queue = queue
        synced.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for registration in self._registrations.values():
                registration.remove()

    async def resource(self, limit: str) -> ResourceInfo | None:
        """The resource that a limit is about; None when it is about none, or the server has none of the name."""
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
        """The objects in a namespace."""
        informer = self._manager.metadata_informer_for(resource)
        if resource not in self._registrations and self._queue is not None:
            comes_or_goes = PredicateFuncs[Any](None, lambda _old, _new: False, None)
            handler: EnqueueHandler[Any] = EnqueueHandler(self._queue, self._map, [comes_or_goes])
            self._registrations[resource] = informer.add_handler(handler)
        await informer.synced()
        return informer.indexer.by_index(NAMESPACE_INDEX, namespace)
