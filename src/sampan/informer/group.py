"""`InformerGroup`: the informers of one resource in several namespaces, used as one informer.

Use it for a program that may access only some namespaces, or should not cache the objects of all namespaces. Each
namespace has its own watch and its own versions, so the group has no version: to wait for a write, use the informer of
its namespace.
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
    """Handler that is registered with all informers of a group."""

    def __init__(self, registrations: list[Registration[T]]) -> None:
        self._registrations = registrations

    @property
    def pending(self) -> int:
        """Number of events queued for the handler."""
        return sum(registration.pending for registration in self._registrations)

    def has_synced(self) -> bool:
        """Return True if the handler has received the first list of every informer."""
        return all(registration.has_synced() for registration in self._registrations)

    async def synced(self) -> None:
        """Wait until the handler has received the first list of every informer."""
        await wait_for_cache_sync(*self._registrations)

    def remove(self) -> None:
        """Stop notifying the handler."""
        for registration in self._registrations:
            registration.remove()

    async def removed(self) -> None:
        """Wait until the handler is removed and no call of it is running."""
        for registration in self._registrations:
            await registration.removed()


class GroupStore(Generic[T]):
    """Read-only view of the stores of a group."""

    def __init__(self, informers: Mapping[str, SharedInformer[T]]) -> None:
        self._informers = informers

    def get(self, key: str) -> Ref[T] | None:
        """Return the object with this key; None also for namespaces outside the group."""
        informer = self._informers.get(split_key(key)[0])
        return None if informer is None else informer.indexer.get(key)

    def refs(self) -> list[Ref[T]]:
        """Return all objects."""
        return [ref for informer in self._informers.values() for ref in informer.indexer.refs()]

    def by_index(self, name: str, value: str) -> list[Ref[T]]:
        """Return the objects that an index has under a value. Raises `KeyError` for an unknown index."""
        if name == NAMESPACE_INDEX:
            return self._informers[value].indexer.refs() if value in self._informers else []
        return [ref for informer in self._informers.values() for ref in informer.indexer.by_index(name, value)]


class InformerGroup(Generic[T]):
    """Several informers as one. Their owner, a `SharedInformerFactory`, starts and stops them.

    A handler gets the events of each namespace one at a time. While an asynchronous handler waits, it may get an event
    of another namespace.
    """

    def __init__(self, informers: Mapping[str, SharedInformer[T]]) -> None:
        """Create the group. `informers`: the informers by namespace."""
        self._informers = dict(informers)

    @property
    def namespaces(self) -> list[str]:
        """Watched namespaces."""
        return list(self._informers)

    def in_namespace(self, namespace: str) -> SharedInformer[T]:
        """Return the informer of one namespace. Raises `KeyError` if it is not in the group."""
        return self._informers[namespace]

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> GroupRegistration[T]:
        """Register a handler for all namespaces. Raises `InformerStopped`."""
        informers = self._informers.values()
        return GroupRegistration([informer.add_handler(handler, resync_s=resync_s) for informer in informers])

    def lister(self) -> Lister[T]:
        """Return a lister that reads all stores."""
        return Lister(GroupStore(self._informers))

    def has_synced(self) -> bool:
        """Return True if all stores contain their first list."""
        return all(informer.has_synced() for informer in self._informers.values())

    async def synced(self) -> None:
        """Wait until all stores contain their first list. Raises `InformerStopped`."""
        await wait_for_cache_sync(*self._informers.values())
