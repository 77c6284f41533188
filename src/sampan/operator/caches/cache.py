"""`InformerCache`: an informer, the client's own writes, and refused writes, which show that the informer is behind."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from sampan.client.errors import AlreadyExists, Conflict, NotFound
from sampan.informer.key import join_key
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.store.lister import Lister
from sampan.informer.version import older
from sampan.operator.caches.selection import Selection
from sampan.resource import meta

_WRITES_MAX: Final = 4096
_GONE_MAX: Final = 4096
_OUTDATED_MAX: Final = 4096
_UNSELECTED_MAX: Final = 4096
_OTHER_MANAGER: Final = "FieldManagerConflict"
"""Cause of a conflict of server-side apply, which does not depend on the age of the read object."""


class StaleCache(TimeoutError):
    """The cache did not reach this client's last write in time."""


class _Write(NamedTuple):
    resource_version: str
    uid: str


class _Gone(NamedTuple):
    key: str
    resource_version: str
    """Last known version before the deletion."""


class InformerCache:
    """An informer and the writes that it has not yet received. The number of remembered writes is bounded; the oldest
    are dropped first.

    If the informer has selectors, own writes of objects outside them are remembered as well: they are read from the
    server, because the informer will not receive them.
    """

    def __init__(
        self,
        informer: SharedInformer[Any],
        namespace: str,
        timeout_s: float,
        *,
        selection: Selection | None = None,
        is_partial: bool = False,
    ) -> None:
        self._informer = informer
        self._namespace = namespace
        self._timeout_s = timeout_s
        self._selection = selection
        self.is_partial = is_partial
        self._unselected: OrderedDict[str, str] = OrderedDict()
        """Versions of own writes that have made or left an object outside the selection, by key."""
        self._written: OrderedDict[str, _Write] = OrderedDict()
        self._gone: OrderedDict[str, _Gone] = OrderedDict()
        self._outdated: OrderedDict[str, None] = OrderedDict()

    @property
    def resource_version(self) -> str:
        """The resourceVersion that the cache has reached."""
        return self._informer.last_resource_version

    def holds(self, namespace: str) -> bool:
        """Return True if the cache contains the objects of a namespace ("" for all)."""
        return self._namespace in ("", namespace)

    def wrote(self, obj: Any) -> None:
        """Record a write; `obj` is the object in the server's response."""
        metadata = meta(obj)
        if not metadata.resource_version:
            return
        key = join_key(metadata.namespace, metadata.name)
        if self._selection is not None and not self._selection.contains(obj):
            self._wrote_unselected(key, metadata.resource_version)
            return
        self._unselected.pop(key, None)
        before = self._written.get(key)
        if before is not None and older(metadata.resource_version, before.resource_version):
            return  # Responses of two writes may arrive in another order.
        self._written[key] = _Write(metadata.resource_version, metadata.uid)
        self._written.move_to_end(key)
        self._forget_seen()
        if len(self._written) > _WRITES_MAX:
            self._written.popitem(last=False)

    def _wrote_unselected(self, key: str, version: str) -> None:
        if older(version, self._unselected.get(key, "")):
            return
        self._written.pop(key, None)
        self._unselected[key] = version
        self._unselected.move_to_end(key)
        if len(self._unselected) > _UNSELECTED_MAX:
            self._unselected.popitem(last=False)

    def _is_unselected(self, key: str) -> bool:
        """Return True if the last known state of an object is an own write outside the selection."""
        version = self._unselected.get(key)
        if version is None:
            return False
        ref = self._informer.indexer.get(key)
        # The informer has a later state: another client has brought the object into the selection.
        if ref is not None and older(version, ref.resource_version):
            del self._unselected[key]
            return False
        return True

    def deleted(self, key: str, response: Any) -> None:
        """Record a deletion request; `response` is the object in the server's response, or None."""
        # The object still exists with a deletion timestamp, so the deletion counts as an update.
        if response is not None and _stays(response):
            self.wrote(response)
            return
        self._unselected.pop(key, None)
        known = self._written.get(key) or self._informer.indexer.get(key)
        # By UID, not by key: a new object of the same name must not look deleted.
        uid = meta(response).uid if response is not None else known.uid if known else ""
        if uid:
            version = known.resource_version if known else meta(response).resource_version
            self._gone[uid] = _Gone(key, version)
            self._forget_seen()
        if len(self._gone) > _GONE_MAX:
            self._gone.popitem(last=False)

    @contextmanager
    def refusals(self, key: str) -> Iterator[None]:
        """Wrap a write. If the server refuses the write because of the object's state, mark the object as outdated."""
        try:
            yield
        except (AlreadyExists, Conflict, NotFound) as error:
            if not error.has_cause(_OTHER_MANAGER):
                self._outdated[key] = None
                if len(self._outdated) > _OUTDATED_MAX:
                    self._outdated.popitem(last=False)
            raise

    def is_outdated(self, key: str) -> bool:
        """Return True if the object must be read from the server."""
        return key in self._outdated or self._is_unselected(key)

    def outdated(self) -> list[str]:
        """Return the keys of all objects that must be read from the server."""
        return list(self._outdated)

    def fetched(self, key: str, obj: Any | None) -> None:
        """Record that an object was read from the server; `obj` is None if the object does not exist."""
        self._outdated.pop(key, None)
        if obj is None:
            self.deleted(key, None)
        else:
            self.wrote(obj)

    async def get(self, key: str) -> Ref[Any] | None:
        """Return the object, including this client's own writes; None if it does not exist. Raises `StaleCache`."""
        await self._reach_own(key)
        if not self._informer.has_synced():
            await self._synced()
        ref = self._informer.indexer.get(key)
        return None if ref is None or ref.uid in self._gone else ref

    async def refs(self, namespace: str, selector: str) -> list[Ref[Any]]:
        """Return the objects of a namespace ("" for all), including this client's own writes. Raises `StaleCache`."""
        await self._reach_all()
        lister: Lister[Any] = self._informer.lister()
        found = lister.namespaced(namespace).refs(selector) if namespace else lister.refs(selector)
        return self._current(found)

    async def by_index(self, name: str, values: Iterable[str]) -> list[Ref[Any]]:
        """Return the objects that an index has under any of the values, including this client's own writes.

        Raises `StaleCache`, `KeyError`.
        """
        await self._reach_all()
        found = {ref.key: ref for value in values for ref in self._informer.indexer.by_index(name, value)}
        return self._current(found.values())

    def _current(self, refs: Iterable[Ref[Any]]) -> list[Ref[Any]]:
        """Return the refs of objects that are neither deleted nor outside the selection."""
        found = [ref for ref in refs if ref.uid not in self._gone]
        return [ref for ref in found if not self._is_unselected(ref.key)] if self._unselected else found

    def _forget_seen(self) -> None:
        """Drop writes and deletions that the cache has received, the oldest first."""
        reached = self._informer.last_resource_version
        while self._written:
            key, write = next(iter(self._written.items()))
            # The oldest write comes first, so the first one that the cache has not received ends the search.
            if not reached or older(reached, write.resource_version):
                break
            del self._written[key]
        while self._gone:
            uid, gone = next(iter(self._gone.items()))
            ref = self._informer.indexer.get(gone.key)
            if not reached or older(reached, gone.resource_version) or (ref is not None and ref.uid == uid):
                break
            del self._gone[uid]

    async def _reach_all(self) -> None:
        """Wait until the cache has received all own writes."""
        for key in list(self._written):
            await self._reach_own(key)
        if not self._informer.has_synced():
            await self._synced()

    async def _reach_own(self, key: str) -> None:
        """Wait for the last write of one object. It is dropped only after it is received, because other tasks may wait
        for it.
        """
        write = self._written.get(key)
        if write is None:
            return
        await self._reach(write.resource_version)
        # Another write of the same object may have replaced it while this task waited.
        if self._written.get(key) is write:
            del self._written[key]

    async def _reach(self, resource_version: str) -> None:
        try:
            await self._informer.at_least(resource_version, timeout_s=self._timeout_s)
        except TimeoutError:
            raise self._stale(resource_version) from None

    async def _synced(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._informer.synced()
        except TimeoutError:
            raise self._stale("its first list") from None

    def _stale(self, what: str) -> StaleCache:
        resource = self._informer.object_type.info.gvr.group_resource
        return StaleCache(f"the cache of {resource} has not reached {what} in {self._timeout_s:g} s")


def _stays(deleted: Any) -> bool:
    """Return True if a deletion has only started: finalizers are pending, or the object ends gracefully."""
    metadata = meta(deleted)
    return bool(metadata.deletion_timestamp and (metadata.finalizers or metadata.deletion_grace_period_seconds))
