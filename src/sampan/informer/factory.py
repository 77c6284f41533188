"""`SharedInformerFactory`: one informer for each collection, shared by all callers.

Concurrency: `start` runs each informer as a task of the caller's task group. `shutdown` and `remove` cancel the
tasks.
Source: client-go informers/factory.go, dynamic/dynamicinformer, metadata/metadatainformer (1.36).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, overload

from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.informer.group import InformerGroup
from sampan.informer.settings import InformerSettings
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.sync import wait_for_cache_sync
from sampan.informer.transform import Transform
from sampan.resource import Object, ObjectType, ResourceInfo

T = TypeVar("T")


class Resources(Protocol):
    """Part of a client that a factory uses, for example of `sampan.client.client.Client`."""

    def resource(self, what: Any, *, namespace: str | None = None) -> Any:
        """Return the client of a resource, which has `object_type`, `list_watch(…)` and `metadata_only()`."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Selection of a resource's objects."""

    namespace: str | None = None
    """"" for all namespaces; None for the factory's namespace."""
    label_selector: str = ""
    field_selector: str = ""


@dataclass(frozen=True, slots=True)
class _Collection:
    object_type: ObjectType[Any]
    scope: Scope
    transform: Transform | None


class SharedInformerFactory:
    """Creates, starts and stops informers. Requests for the same collection return the same informer."""

    def __init__(
        self, client: Resources, *, namespace: str = "", resync_s: float = 0.0, settings: InformerSettings | None = None
    ) -> None:
        """`namespace` is the default of all informers; "" for all namespaces."""
        self._client = client
        self._namespace = namespace
        self._resync_s = resync_s
        self._settings = settings
        self._informers: dict[_Collection, SharedInformer[Any]] = {}
        self._tasks: dict[SharedInformer[Any], asyncio.Task[None]] = {}

    @property
    def informers(self) -> list[SharedInformer[Any]]:
        """All informers that were requested and not removed."""
        return list(self._informers.values())

    @property
    def collections(self) -> list[tuple[ResourceInfo, Scope]]:
        """Resource and scope of each informer that was requested and not removed."""
        return [(each.object_type.info, each.scope) for each in self._informers]

    @overload
    def informer_for(
        self, what: ResourceInfo, scope: Scope = Scope(), *, transform: Transform | None = None
    ) -> SharedInformer[Object]: ...

    @overload
    def informer_for(
        self, what: ObjectType[T], scope: Scope = Scope(), *, transform: Transform | None = None
    ) -> SharedInformer[T]: ...

    @overload
    def informer_for(
        self, what: type[T], scope: Scope = Scope(), *, transform: Transform | None = None
    ) -> SharedInformer[T]: ...

    def informer_for(
        self,
        what: ResourceInfo | ObjectType[Any] | type[Any],
        scope: Scope = Scope(),
        *,
        transform: Transform | None = None,
    ) -> SharedInformer[Any]:
        """Return the informer of a collection. The first call creates it; `start` starts it.

        `what` is a `ResourceInfo` (objects are dicts), an `ObjectType` or a declared type.
        """
        scope = self._complete(scope)
        return self._informer(self._client.resource(what, namespace=scope.namespace), scope, transform)

    def metadata_informer_for(
        self,
        what: ResourceInfo | ObjectType[Any] | type[Any],
        scope: Scope = Scope(),
        *,
        transform: Transform | None = None,
    ) -> SharedInformer[PartialObjectMetadata]:
        """Return an informer of metadata only. The server does not send the other fields."""
        scope = self._complete(scope)
        return self._informer(self._client.resource(what, namespace=scope.namespace).metadata_only(), scope, transform)

    @overload
    def informers_for(
        self, what: ResourceInfo, namespaces: Iterable[str], scope: Scope = Scope()
    ) -> InformerGroup[Object]: ...

    @overload
    def informers_for(
        self, what: ObjectType[T], namespaces: Iterable[str], scope: Scope = Scope()
    ) -> InformerGroup[T]: ...

    @overload
    def informers_for(self, what: type[T], namespaces: Iterable[str], scope: Scope = Scope()) -> InformerGroup[T]: ...

    def informers_for(
        self, what: ResourceInfo | ObjectType[Any] | type[Any], namespaces: Iterable[str], scope: Scope = Scope()
    ) -> InformerGroup[Any]:
        """Return the informers of some namespaces as a group. The namespace of the scope is ignored."""
        informers = {
            namespace: self.informer_for(what, replace(scope, namespace=namespace))
            for namespace in dict.fromkeys(namespaces)
        }
        one = next(iter(informers.values()), None) or self._client.resource(what)
        return InformerGroup(informers, one.object_type)

    async def start(self, task_group: asyncio.TaskGroup) -> None:
        """Start all informers that have not been started. Call it again after requesting more."""
        for informer in self._informers.values():
            if informer not in self._tasks:
                self._tasks[informer] = task_group.create_task(informer.run(), name=str(informer))

    async def wait_for_cache_sync(self, *, timeout_s: float | None = None) -> None:
        """Wait until all stores contain their first lists. Raises `TimeoutError`, which names the missing ones."""
        await wait_for_cache_sync(*self._tasks, timeout_s=timeout_s)

    async def remove(self, informer: SharedInformer[Any]) -> None:
        """Stop and remove an informer. The next request for its collection creates a new one."""
        self._informers = {key: other for key, other in self._informers.items() if other is not informer}
        task = self._tasks.pop(informer, None)
        if task is not None:
            await _stop(task)

    async def retire(self, informer: SharedInformer[Any]) -> None:
        """Stop and remove an informer, after its handlers have received a deletion of each of its objects."""
        if informer in self._tasks:
            await informer.end()
        await self.remove(informer)

    async def shutdown(self) -> None:
        """Stop all started informers."""
        # One at a time, because `start` may run while this method waits for a task to end.
        while self._tasks:
            _, task = self._tasks.popitem()
            await _stop(task)

    def _complete(self, scope: Scope) -> Scope:
        namespace = self._namespace if scope.namespace is None else scope.namespace
        return Scope(namespace, scope.label_selector, scope.field_selector)

    def _informer(self, resource: Any, scope: Scope, transform: Transform | None) -> SharedInformer[Any]:
        collection = _Collection(resource.object_type, scope, transform)
        informer = self._informers.get(collection)
        if informer is None:
            list_watch = resource.list_watch(label_selector=scope.label_selector, field_selector=scope.field_selector)
            informer = self._informers[collection] = SharedInformer(
                list_watch,
                resource.object_type,
                resync_s=self._resync_s,
                transform=transform,
                settings=self._settings,
            )
        return informer


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
