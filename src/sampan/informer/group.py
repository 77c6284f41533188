"""`InformerGroup`: the informers of one resource in several namespaces, used as one informer.

Use it for a program that may access only some namespaces, or should not cache the objects of all namespaces. The owner
may add and remove namespaces while the group is in use. Each namespace has its own watch and its own versions, so the
group has no version: to wait for a write, use the informer of its namespace.
Source: controller-runtime pkg/cache/multi_namespace_cache.go (0.24).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Generic, TypeVar

from sampan.core.event_loop.task_scope import TaskScope
from sampan.informer.handler import EventHandler
from sampan.informer.key import split_key
from sampan.informer.ref import Ref
from sampan.informer.registration import Registration
from sampan.informer.shared_informer import InformerStopped, SharedInformer
from sampan.informer.store.index import IndexFunction
from sampan.informer.store.indexer import NAMESPACE_INDEX
from sampan.informer.store.lister import Lister
from sampan.informer.sync import wait_for_cache_sync
from sampan.resource.object_type import ObjectType

T = TypeVar("T")

_LEFT_MAX: Final = 4096


class GroupRegistration(Generic[T]):
    """Handler that is registered with all informers of a group, also with those that are added later."""

    def __init__(self, group: "InformerGroup[T]", handler: EventHandler[T], resync_s: float | None) -> None:
        self._group = group
        self._handler = handler
        self._resync_s = resync_s
        self._registrations: dict[str, Registration[T]] = {}

    @property
    def pending(self) -> int:
        """Number of events queued for the handler."""
        return sum(registration.pending for registration in self._registrations.values())

    def has_synced(self) -> bool:
        """Return True if the handler has received the first list of every informer."""
        return self._group.is_complete and all(each.has_synced() for each in self._registrations.values())

    async def synced(self) -> None:
        """Wait until the handler has received the first list of every informer."""
        await self._group.complete()
        await wait_for_cache_sync(*self._registrations.values())

    def remove(self) -> None:
        """Stop notifying the handler."""
        self._group.forget(self)
        for registration in self._registrations.values():
            registration.remove()

    async def removed(self) -> None:
        """Wait until the handler is removed and no call of it is running."""
        for registration in list(self._registrations.values()):
            await registration.removed()

    # Methods for the group.

    def join(self, namespace: str, informer: SharedInformer[T]) -> None:
        """Register the handler with another informer."""
        self._registrations[namespace] = informer.add_handler(self._handler, resync_s=self._resync_s)

    def leave(self, namespace: str) -> None:
        """Forget an informer. It still delivers its queued events."""
        self._registrations.pop(namespace, None)


class GroupStore(Generic[T]):
    """Read-only view of the stores of a group."""

    def __init__(self, informers: Mapping[str, SharedInformer[T]], functions: Mapping[str, IndexFunction[T]]) -> None:
        self._informers = informers
        self._functions = functions
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return sum(len(informer.indexer) for informer in self._informers.values())

    def __contains__(self, key: object) -> bool:
        return any(key in informer.indexer for informer in self._informers.values())

    def get(self, key: str) -> Ref[T] | None:
        """Return the object with this key; None also for namespaces outside the group."""
        informer = self._informers.get(split_key(key)[0])
        return None if informer is None else informer.indexer.get(key)

    def keys(self) -> list[str]:
        """Return all keys."""
        return [key for informer in self._informers.values() for key in informer.indexer.keys()]  # noqa: SIM118

    def refs(self) -> list[Ref[T]]:
        """Return all objects."""
        return [ref for informer in self._informers.values() for ref in informer.indexer.refs()]

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """Return the objects that an index has under a value. Raises `KeyError` for an unknown index."""
        if name == NAMESPACE_INDEX:
            return self._informers[value].indexer.refs() if value in self._informers else []
        if not self._informers and name not in self._functions:
            raise KeyError(name)
        return [ref for informer in self._informers.values() for ref in informer.indexer.by_index(name, value)]

    async def has_objects(self) -> None:
        """Wait until one of the stores has an object."""
        while not len(self):
            async with TaskScope() as tasks:
                waits = [tasks.begin(informer.indexer.has_objects()) for informer in self._informers.values()]
                changed = tasks.begin(self._changed.wait())
                await asyncio.wait([*waits, changed], return_when=asyncio.FIRST_COMPLETED)

    def changed(self) -> None:
        """Record that an informer was added or removed."""
        self._changed.set()
        self._changed = asyncio.Event()


class InformerGroup(Generic[T]):
    """Several informers as one `Informer`. Their owner, a `SharedInformerFactory`, starts and stops them.

    A handler gets the events of each namespace one at a time. While an asynchronous handler waits, it may get an event
    of another namespace.
    """

    def __init__(
        self, informers: Mapping[str, SharedInformer[T]], object_type: ObjectType[T], *, complete: bool = True
    ) -> None:
        """Create the group. `informers`: the informers by namespace.

        `complete`: False if the first namespaces are still to be added. The group has not synced before
        `set_complete`.
        """
        self._informers = dict(informers)
        self._functions: dict[str, IndexFunction[T]] = {}
        self._registrations: list[GroupRegistration[T]] = []
        self._complete = asyncio.Event()
        self._left: OrderedDict[str, None] = OrderedDict()
        self.object_type = object_type
        self.indexer: GroupStore[T] = GroupStore(self._informers, self._functions)
        """The stores of all informers as one, for reading only."""
        if complete:
            self._complete.set()

    def __str__(self) -> str:
        return f"informers of {self.object_type.info.gvr.group_resource} in {len(self._informers)} namespaces"

    @property
    def namespaces(self) -> list[str]:
        """Watched namespaces."""
        return list(self._informers)

    def in_namespace(self, namespace: str) -> SharedInformer[T]:
        """Return the informer of one namespace. Raises `KeyError` if it is not in the group."""
        return self._informers[namespace]

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> GroupRegistration[T]:
        """Register a handler for all namespaces. Raises `InformerStopped`."""
        registration = GroupRegistration(self, handler, resync_s)
        for namespace, informer in self._informers.items():
            registration.join(namespace, informer)
        self._registrations.append(registration)
        return registration

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        """Add an index to the stores, also to those of later namespaces. Raises `ValueError` if the name is in use."""
        if name == NAMESPACE_INDEX or name in self._functions:
            raise ValueError(f"there is an index {name!r} already")
        self._functions[name] = function
        for informer in self._informers.values():
            informer.add_indexer(name, function)

    def lister(self) -> Lister[T]:
        """Return a lister that reads all stores."""
        return Lister(self.indexer)

    @property
    def is_complete(self) -> bool:
        """True if the first namespaces have been added."""
        return self._complete.is_set()

    def has_synced(self) -> bool:
        """Return True if all stores contain their first list."""
        return self.is_complete and all(informer.has_synced() for informer in self._informers.values())

    async def synced(self) -> None:
        """Wait until all stores contain their first list. Raises `InformerStopped`."""
        await self._complete.wait()
        for namespace, informer in list(self._informers.items()):
            try:
                await informer.synced()
            except InformerStopped:
                # A namespace that has left the group meanwhile has no objects to wait for.
                if self._informers.get(namespace) is informer:
                    raise

    # Methods for the owner.

    def join(self, namespace: str, informer: SharedInformer[T]) -> None:
        """Add a namespace: its objects are added for all handlers. Raises `ValueError` if it is in the group."""
        if namespace in self._informers:
            raise ValueError(f"{namespace} is in the group already")
        for name, function in self._functions.items():
            informer.add_indexer(name, function)
        self._informers[namespace] = informer
        self._left.pop(namespace, None)
        for registration in self._registrations:
            registration.join(namespace, informer)
        self.indexer.changed()

    def leave(self, namespace: str) -> SharedInformer[T] | None:
        """Remove a namespace, and return its informer, which the owner ends; None if it is not in the group."""
        informer = self._informers.pop(namespace, None)
        if informer is not None:
            self._left[namespace] = None
            if len(self._left) > _LEFT_MAX:
                self._left.popitem(last=False)
        for registration in self._registrations:
            registration.leave(namespace)
        self.indexer.changed()
        return informer

    def has_left(self, namespace: str) -> bool:
        """Return True if a namespace was in the group and is no longer. The last 4096 are remembered."""
        return namespace in self._left

    def set_complete(self) -> None:
        """Record that the first namespaces have been added."""
        self._complete.set()

    async def complete(self) -> None:
        """Wait until the first namespaces have been added."""
        await self._complete.wait()

    def forget(self, registration: GroupRegistration[T]) -> None:
        """Do not add a handler to later informers."""
        if registration in self._registrations:
            self._registrations.remove(registration)
