"""`Informer`: interface of a `SharedInformer` and of an `InformerGroup`, for code that works with both."""

from typing import Protocol, TypeVar

from sampan.informer.handler import EventHandler
from sampan.informer.store.index import IndexFunction
from sampan.informer.store.lister import Lister, ReadableStore
from sampan.resource.object_type import ObjectType

T = TypeVar("T")


class InformerStore(ReadableStore[T], Protocol[T]):
    """Store of an informer, for reading only."""

    def __len__(self) -> int:
        """Return the number of objects."""
        ...

    def __contains__(self, key: object) -> bool:
        """Return True if there is an object with this key."""
        ...

    def keys(self) -> list[str]:
        """Return all keys."""
        ...

    async def has_objects(self) -> None:
        """Wait until the store has an object."""
        ...


class InformerRegistration(Protocol):
    """Handler that is registered with an informer."""

    @property
    def pending(self) -> int:
        """Number of events queued for the handler."""
        ...

    def has_synced(self) -> bool:
        """Return True if the handler has processed the whole first list."""
        ...

    async def synced(self) -> None:
        """Wait until the handler has processed the first list."""
        ...

    def remove(self) -> None:
        """Stop notifying the handler."""
        ...

    async def removed(self) -> None:
        """Wait until the handler is removed and no call of it is running."""
        ...


class Informer(Protocol[T]):
    """Local copy of some objects that follows the server, with handlers for changes."""

    @property
    def object_type(self) -> ObjectType[T]:
        """Resource of the watched objects, with the functions that decode and encode them."""
        ...

    @property
    def indexer(self) -> InformerStore[T]:
        """Objects of the last list and all later events. Readers must not change it."""
        ...

    def lister(self) -> Lister[T]:
        """Return a lister that reads the store."""
        ...

    def has_synced(self) -> bool:
        """Return True if the store contains the whole first list."""
        ...

    async def synced(self) -> None:
        """Wait until the store contains the first list. Raises `InformerStopped`."""
        ...

    def add_handler(self, handler: EventHandler[T], *, resync_s: float | None = None) -> InformerRegistration:
        """Register a handler, at any time. It first gets all objects in the store. Raises `InformerStopped`."""
        ...

    def add_indexer(self, name: str, function: IndexFunction[T]) -> None:
        """Add an index to the store, at any time. Raises `ValueError` if the name is in use."""
        ...
