"""`DeltaFIFO`: events grouped by key. The queue returns all deltas of a key together.

Keys are returned in the order in which they were first queued, but events of different keys may be reordered. So the
version of the store is known only when the queue is empty. The bound is that of `InOrderQueue`: a reflector waits while
two batches of keys are queued. `InOrderQueue` is newer and the default.
Source: client-go tools/cache/delta_fifo.go `DeltaFIFO` with EmitDeltaTypeReplaced (1.36).
"""

import asyncio
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from sampan.informer.queues.delta import Batch, Delta, DeltaType
from sampan.informer.queues.in_order_queue import BATCH_MAX
from sampan.informer.ref import DeletedFinalStateUnknown, Deletion, Ref, last_known
from sampan.informer.version import older

T = TypeVar("T")


class KnownObjects(Protocol[T]):
    """Store of the queue's consumer."""

    def keys(self) -> Sequence[str]:
        """Return all keys."""
        ...

    def get(self, key: str) -> Ref[T] | None:
        """Return the object with this key, or None."""
        ...


class DeltaFIFO(Generic[T]):
    """Deltas by key. `known_objects` is the consumer's store, which replace, delete and resync read."""

    def __init__(self, known_objects: KnownObjects[T]) -> None:
        self._known = known_objects
        self._deltas: dict[str, list[Delta[T]]] = {}
        self._newest = ""
        self._filled = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._populated = False
        self._initial_left = 0

    def __len__(self) -> int:
        """Return the number of queued keys."""
        return len(self._deltas)

    def add(self, ref: Ref[T], *, ordered: bool = True) -> None:
        """Queue ADDED."""
        self._populated = True
        if ordered:
            self._reach(ref.resource_version)
        self._put(DeltaType.ADDED, ref)

    def update(self, ref: Ref[T]) -> None:
        """Queue MODIFIED."""
        self._populated = True
        self._reach(ref.resource_version)
        self._put(DeltaType.UPDATED, ref)

    def delete(self, ref: Ref[T]) -> None:
        """Queue DELETED. Do nothing if neither the queue nor the store has the key: a list has already reported it."""
        self._populated = True
        self._reach(ref.resource_version)
        # Without this check, an object that was added and deleted during a gap would be reported as deleted only.
        if ref.key in self._deltas or self._known.get(ref.key) is not None:
            self._put(DeltaType.DELETED, ref)

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """Queue a list: its objects as REPLACED, then a tombstone for each other known or queued key."""
        listed = {ref.key for ref in refs}
        for ref in refs:
            self._put(DeltaType.REPLACED, ref)
        deleted = 0
        for key, deltas in self._deltas.items():
            newest = deltas[-1].obj
            if key not in listed and newest is not None:
                deleted += 1
                self._put(DeltaType.DELETED, DeletedFinalStateUnknown(key, last_known(newest)))
        # Objects of the store. Keys in the queue got their tombstone above.
        for key in list(self._known.keys()):
            known = self._known.get(key)
            if key not in listed and key not in self._deltas and known is not None:
                deleted += 1
                self._put(DeltaType.DELETED, DeletedFinalStateUnknown(key, known))
        self._newest = resource_version
        # Also for an empty list: the consumer must see the version and that the informer has synced.
        self._filled.set()
        # Only the first list counts as the initial one, even if it is empty: handlers wait for its end.
        if not self._populated:
            self._populated = True
            self._initial_left = len(listed) + deleted

    def bookmark(self, resource_version: str) -> None:
        """Set the version that the store reaches when the queue is empty."""
        self._reach(resource_version)

    def resync(self) -> None:
        """Queue all known objects as SYNC, except those with queued deltas: their known state is out of date."""
        for key in list(self._known.keys()):
            known = self._known.get(key)
            if key not in self._deltas and known is not None:
                self._put(DeltaType.SYNC, known)

    async def room(self) -> None:
        """Wait until there are fewer than two batches of keys."""
        await self._has_room.wait()

    def has_synced(self) -> bool:
        """Return True if all keys of the first list have been taken out, or if single events came first."""
        return self._populated and self._initial_left == 0

    async def pop_batch(self) -> Batch[T]:
        """Take all deltas of up to `BATCH_MAX` keys. The last batch ends with a BOOKMARK of the version reached."""
        await self._filled.wait()
        is_in_initial_list = not self.has_synced()
        # A batch never mixes keys of the first list with later ones, because `is_in_initial_list` applies to all of it.
        limit = min(BATCH_MAX, self._initial_left or BATCH_MAX)
        keys = [key for key, _ in zip(self._deltas, range(limit), strict=False)]
        deltas = [delta for key in keys for delta in self._deltas.pop(key)]
        self._initial_left = max(self._initial_left - len(keys), 0)
        if not self._deltas:
            self._filled.clear()
            # Only now does the consumer have everything up to this version: keys are not in the order of versions.
            if self._newest:
                deltas.append(Delta(DeltaType.BOOKMARK, None, self._newest))
        if len(self._deltas) < 2 * BATCH_MAX:
            self._has_room.set()
        return Batch(deltas, is_in_initial_list)

    def _reach(self, resource_version: str) -> None:
        if not older(resource_version, self._newest):
            self._newest = resource_version
        self._filled.set()

    def _put(self, kind: DeltaType, obj: Deletion[T]) -> None:
        delta = Delta(kind, obj)
        deltas = self._deltas.setdefault(obj.key, [])
        if deltas and kind is DeltaType.DELETED and deltas[-1].type is DeltaType.DELETED:
            # Two deletions become one. A real last state is better than a tombstone.
            if isinstance(deltas[-1].obj, DeletedFinalStateUnknown):
                deltas[-1] = delta
        else:
            deltas.append(delta)
        self._filled.set()
        if len(self._deltas) >= 2 * BATCH_MAX:
            self._has_room.clear()
