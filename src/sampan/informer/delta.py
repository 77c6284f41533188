"""`Delta`: what a reflector puts into a queue and an informer takes out of it.

Source: client-go tools/cache/delta_fifo.go, the_real_fifo.go (1.36).
"""

import enum
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from sampan.informer.ref import Deletion, Ref

T = TypeVar("T")


class DeltaType(enum.Enum):
    """What happened."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """A list has the object; whether it is new is not known."""
    SYNC = "Sync"
    """Nothing: the object is only to be looked at again."""
    REPLACED_ALL = "ReplacedAll"
    """A list: these objects are all there are."""
    SYNC_ALL = "SyncAll"
    """All objects in the store are to be looked at again."""
    BOOKMARK = "Bookmark"
    """Nothing, up to a resourceVersion."""


class Delta(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """One thing that happened. `obj` is the state after it; of a deletion the last state before it."""

    type: DeltaType
    obj: Deletion[T] | None = None
    """None for REPLACED_ALL, SYNC_ALL and BOOKMARK."""
    resource_version: str = ""
    """What the store has seen when it has taken this in; empty when that cannot be said."""
    refs: Sequence[Ref[T]] = ()
    """Of REPLACED_ALL: the objects."""


class Batch(msgspec.Struct, Generic[T], frozen=True, gc=False, eq=False):
    """Deltas to be applied together, in this order."""

    deltas: Sequence[Delta[T]]
    is_in_initial_list: bool
    """Whether they belong to what there was when the informer began."""


class ReflectorStore(Protocol[T]):
    """Where a reflector puts what it learns: a queue, or an `Indexer` directly."""

    def add(self, ref: Ref[T], *, ordered: bool = True) -> None:
        """ADDED. Not `ordered`: one of the events that tell the state a watch begins with, in no order of versions."""
        ...

    def update(self, ref: Ref[T]) -> None:
        """MODIFIED."""
        ...

    def delete(self, ref: Ref[T]) -> None:
        """DELETED; `ref` is the last state, with the resourceVersion of the deletion."""
        ...

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """A list: there is nothing but this."""
        ...

    def bookmark(self, resource_version: str) -> None:
        """Everything up to this version has been told."""
        ...

    async def room(self) -> None:
        """Wait until more may be put in."""
        ...


class Queue(ReflectorStore[T], Protocol[T]):
    """Between a reflector and an informer. One task takes out."""

    def resync(self) -> None:
        """All objects are to be looked at again."""
        ...

    async def pop_batch(self) -> Batch[T]:
        """Wait for deltas and take them out. Whoever asks applies them before anything else runs."""
        ...

    def has_synced(self) -> bool:
        """Whether all of the first list has been taken out."""
        ...

    def __len__(self) -> int:
        """Deltas waiting."""
        ...
