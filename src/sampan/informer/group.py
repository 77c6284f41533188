"""`InformerGroup`: the informers of one resource in several namespaces, read and listened to as one.

For programs that may see some namespaces only, or should not keep the objects of all. Each namespace has its own watch
and its own versions, so there is no version of the whole: who waits for a write asks the informer of its namespace.
Source: controller-runtime pkg/cache/multi_namespace_cache.go (0.24).
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from sampan.informer.handler import EventHandler
from sampan.informer.indexer import NAMESPACE_INDEX
from sampan.informer.key import split_key
from sampan.informer.lister import Lister
from sampan.informer.ref import Ref
from sampan.informer.registration import Registration
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.sync import wait_for_cache_sync

T = TypeVar("T")


class GroupRegistration(Generic[T]):
    """A handler at all informers of a group."""

    def __init__(self, registrations: list[Registration[T]]) -> None:
        self._registrations = registrations

    @property
    def pending(self) -> int:
        """Events that wait for the handler."""
        return sum(registration.pending for registration in self._registrations)

    def has_synced(self) -> bool:
        """Whether the handler has been told all of every first list."""
        return all(registration.has_synced() for registration in self._registrations)

    async def synced(self) -> None:
        """Wait for that."""
        await wait_for_cache_sync(*self._registrations)

    def remove(self) -> None:
        """Tell no more events."""
        for registration in self._registrations:
            registration.remove()

    async def removed(self) -> None:
        """Wait until the handler has been removed and is not being called any more."""
        for registration in self._registrations:
            await registration.removed()


class GroupStore(Generic[T]):
    """The stores of a group's informers, to read."""

    def __init__(self, informers: Mapping[str, SharedInformer[T]]) -> None:
        self._informers = informers

    def get(self, key: str) -> Ref[T] | None:
        """The object with this key; None also for namespaces that are not in the group."""
        informer = self._informers.get(split_key(key)[0])
        return None if informer is None else informer.indexer.get(key)

    def refs(self) -> list[Ref[T]]:
        """All objects."""
        return [ref for informer in self._informers.values() for ref in informer.indexer.refs()]

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """The objects that an index has under a value. Raises `KeyError` when there is no such index."""
        if name == NAMESPACE_INDEX:
            return self._informers[value].indexer.refs() if value in self._informers else []
        return [ref for informer in self._informers.values() for ref in informer.indexer.by_index(name, value)]


class InformerGroup(Generic[T]):
    """Several informers as one. They are started and ended where they come from (a `SharedInformerFactory`).

    A handler is told one event after the other of each namespace; an asynchronous one may be told of another namespace
    while it waits.
    """

    def __init__(self, informers: Mapping[str, SharedInformer[T]]) -> None:
        """`informers` by namespace."""
        self._informers = dict(informers)

    @property
    def namespaces(self) -> list[str]:
        """Those that are watched."""
        return list(self._informers)

    def in_namespace(self, namespace: str) -> SharedInformer[T]:
        """The informer of one namespace. Raises `KeyError` when it is not in the group."""
        return self._informers[namespace]

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> GroupRegistration[T]:
        """Tell a handler of all namespaces. Raises `InformerStopped`."""
        informers = self._informers.values()
        return GroupRegistration([informer.add_handler(handler, resync_s=resync_s) for informer in informers])

    def lister(self) -> Lister[T]:
        """Decoded reading from all stores."""
        return Lister(GroupStore(self._informers))

    def has_synced(self) -> bool:
        """Whether all stores hold all of a first list."""
        return all(informer.has_synced() for informer in self._informers.values())

    async def synced(self) -> None:
        """Wait for that. Raises `InformerStopped`."""
        await wait_for_cache_sync(*self._informers.values())
