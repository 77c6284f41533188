"""`Delta`: a change that a reflector queues and an informer applies.

Source: client-go tools/cache/delta_fifo.go, the_real_fifo.go (1.36).
"""

import enum
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from sampan.informer.ref import Deletion, Ref

T = TypeVar("T")


class DeltaType(enum.Enum):
    """Kind of a change."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """A list contains the object, which may be new."""
    SYNC = "Sync"
    """No change; handlers get the object again."""
    REPLACED_ALL = "ReplacedAll"
    """A list: the store contains only these objects."""
    SYNC_ALL = "SyncAll"
    """No change; handlers get all objects of the store again."""
    BOOKMARK = "Bookmark"
    """No change up to a resourceVersion."""


class Delta(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """One change. `obj` is the state after it; for a deletion, the last state before it."""

    type: DeltaType
    obj: Deletion[T] | None = None
    """State of the object; None for REPLACED_ALL, SYNC_ALL and BOOKMARK."""
    resource_version: str = ""
    """Version that the store has reached after this change; empty if unknown."""
    refs: Sequence[Ref[T]] = ()
    """Objects of REPLACED_ALL."""


class Batch(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """Deltas that are applied together, in this order."""

    deltas: Sequence[Delta[T]]
    is_in_initial_list: bool
    """True if the deltas belong to the first list of the informer."""


class ReflectorStore(Protocol[T]):
    """Destination of a reflector: a queue, or an `Indexer` directly."""

    def add(self, ref: Ref[T], *, ordered: bool = True) -> None:
        """Record ADDED. If not `ordered`, it is part of the initial state of a watch, which is not in version order."""
        ...

    def update(self, ref: Ref[T]) -> None:
        """Record MODIFIED."""
        ...

    def delete(self, ref: Ref[T]) -> None:
        """Record DELETED. `ref` is the last state, with the resourceVersion of the deletion."""
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """Record a list: no other objects exist."""
        ...

    def bookmark(self, resource_version: str) -> None:
        """Record that all changes up to this version have been recorded."""
        ...

    async def room(self) -> None:
        """Wait until the store accepts more changes."""
        ...


class Queue(ReflectorStore[T], Protocol[T]):
    """Queue between a reflector and an informer. One task takes deltas out."""

    def resync(self) -> None:
        """Queue all objects again."""
        ...

    async def pop_batch(self) -> Batch[T]:
        """Wait for deltas and take them out. The caller applies them before any other task runs."""
        ...

    def has_synced(self) -> bool:
        """Return True if the whole first list has been taken out."""
        ...

    def __len__(self) -> int:
        """Return the number of queued deltas."""
        ...
