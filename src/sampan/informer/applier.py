"""`Applier`: applies deltas to the store and notifies the handlers.

Source: client-go tools/cache/controller.go `processDeltas`, `processReplacedAllInfo` (1.36).
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from sampan.informer.freshness import Freshness
from sampan.informer.metrics import InformerMetrics
from sampan.informer.queues.delta import Batch, Delta, DeltaType
from sampan.informer.ref import DeletedFinalStateUnknown, Deletion, Ref, last_known
from sampan.informer.registration import Registration
from sampan.informer.store.indexer import Indexer
from sampan.informer.version import older

T = TypeVar("T")

_LISTED = frozenset({DeltaType.REPLACED, DeltaType.SYNC})


class Applier(Generic[T]):
    """Applies deltas to a store and notifies the handlers. `registrations` may change between batches."""

    def __init__(
        self, indexer: Indexer[T], registrations: "Iterable[Registration[T]]", metrics: InformerMetrics
    ) -> None:
        self._indexer = indexer
        self._registrations = registrations
        self._metrics = metrics
        self._freshness: Freshness[T] = Freshness()

    def apply(self, batch: Batch[T]) -> None:
        """Apply a batch, in order."""
        for delta in batch.deltas:
            fresh = self._apply(delta, batch.is_in_initial_list)
            if delta.resource_version:
                self._reach(delta, fresh)

    def _reach(self, delta: Delta[T], fresh: bool) -> None:
        """Record that the store has reached the delta's version.

        Only a list may lower the version. If versions cannot be compared, only an applied delta counts.
        """
        version, reached = delta.resource_version, self._indexer.resource_version
        if delta.obj is None or older(reached, version) or (fresh and not older(version, reached)):
            self._indexer.bookmark(version)

    def _apply(self, delta: Delta[T], is_in_initial_list: bool) -> bool:
        """Apply one delta. Return False if it was stale."""
        obj = delta.obj
        if obj is None:
            self._apply_to_all(delta, is_in_initial_list)
            return True
        if delta.type is DeltaType.DELETED:
            return self._delete(obj)
        return self._put(last_known(obj), is_in_initial_list, listed=delta.type in _LISTED)

    def _apply_to_all(self, delta: Delta[T], is_in_initial_list: bool) -> None:
        if delta.type is DeltaType.REPLACED_ALL:
            self._replace(delta, is_in_initial_list)
        elif delta.type is DeltaType.SYNC_ALL:
            self._sync_all()

    def _put(self, ref: Ref[T], is_in_initial_list: bool, *, listed: bool) -> bool:
        """Add or replace an object. A list may contain an older state (a restored backup); a watch may not."""
        # A list comes from one consistent read, so it always wins, even if the server went back in time.
        if not listed and not self._freshness.is_new(ref, self._indexer.get(ref.key)):
            self._metrics.stale += 1
            return False
        old = self._indexer.put(ref)
        if old is None:
            for registration in self._registrations:
                registration.notify_added(ref, is_in_initial_list)
            return True
        # Deleted and created again between two lists: late events of the old object must not replace the new one.
        if old.uid != ref.uid:
            self._freshness.deleted(old.uid, ref.resource_version)
        self._notify_updated(old, ref)
        return True

    def _notify_updated(self, old: Ref[T], new: Ref[T]) -> None:
        # The UID too: after a restore from a backup, another object may have the same version.
        same = old.resource_version == new.resource_version and old.uid == new.uid
        for registration in self._registrations:
            if not same or registration.resyncing:
                registration.notify_updated(old, new)

    def _delete(self, obj: Deletion[T]) -> bool:
        known = self._indexer.get(obj.key)
        if isinstance(obj, Ref) and not self._freshness.is_new(obj, known, deletion=True):
            self._metrics.stale += 1
            return False
        ref = last_known(obj)
        self._freshness.deleted(ref.uid, ref.resource_version)
        # Handlers never saw an object that was created and deleted between two batches.
        if known is not None:
            self._indexer.remove(obj.key)
            for registration in self._registrations:
                registration.notify_deleted(obj)
        return True

    def _replace(self, delta: Delta[T], is_in_initial_list: bool) -> None:
        """Replace the store, then notify handlers of the deletions, then of the listed objects in list order."""
        before = {ref.key: ref for ref in self._indexer.refs()}
        # The store first: a handler that reads other objects must see the new list.
        self._indexer.replace(delta.refs, delta.resource_version)
        changed: list[tuple[Ref[T] | None, Ref[T]]] = [
            (before.pop(ref.key, None), ref) for ref in delta.refs if self._indexer.get(ref.key) is ref
        ]
        for key, ref in before.items():
            self._freshness.deleted(ref.uid, delta.resource_version)
            tombstone = DeletedFinalStateUnknown(key, ref)
            for registration in self._registrations:
                registration.notify_deleted(tombstone)
        for old, new in changed:
            if old is None:
                for registration in self._registrations:
                    registration.notify_added(new, is_in_initial_list)
            else:
                self._notify_updated(old, new)

    def _sync_all(self) -> None:
        due = [registration for registration in self._registrations if registration.resyncing]
        for registration in due:
            registration.resyncing = False
            for ref in self._indexer.refs():
                registration.notify_updated(ref, ref)
