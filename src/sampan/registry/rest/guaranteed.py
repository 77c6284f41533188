"""`guaranteed`: a write that begins from the stored row, and is tried again until it began from the newest one.

It begins from the row that the watch cache has, without asking the store whether that is the newest: the write itself
finds out, as it compares the row's revision. Whatever else comes of a row that may be old, a refusal or an answer
without a write, counts only once the store has said that there is no newer one. So a write takes one turn of the store,
and nobody is ever answered from an old row.
Source: apiserver pkg/storage/etcd3/store.go GuaranteedUpdate, conditionalDelete (1.36).
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from sampan.core import errors
from sampan.registry.rest.store import TRIES_MAX, ResourceStore, row_of, with_revision
from sampan.storage.store import Conflict, KeyExists, KeyValue, OutcomeUnknown, Revision, StoreUnavailable

T = TypeVar("T")


class Origin:
    """The row that an attempt begins from; None: there is none. Its value has the resourceVersion filled in.

    `confirmed`: the store has said that the row is the newest, or was when it was written over.
    """

    __slots__ = ("_key", "_store", "confirmed", "row")

    def __init__(self, store: ResourceStore, key: str) -> None:
        self._store = store
        self._key = key
        self.row: KeyValue | None = None
        self.confirmed = False

    @property
    def present(self) -> KeyValue:
        """The row, where one is."""
        assert self.row is not None
        return self.row

    async def update(self, value: bytes, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Write over the row. `frees`: see `Store.update`. Raises `Conflict`."""
        row = self.present
        revision = await self._store.store.update(row.key, value, row.mod_revision, ttl_s=ttl_s, frees=frees)
        self.confirmed = True
        return revision

    async def delete(self) -> Revision:
        """Remove the row. Raises `Conflict`."""
        row = self.present
        revision = await self._store.store.delete(row.key, row.mod_revision)
        self.confirmed = True
        return revision

    def look(self) -> None:
        """Take what the cache has, unless the store has told better. Raises `Untransformable`."""
        if not self.confirmed:
            self._store.cache.poll()
            self.row = row_of(self._store.cache.get(self._key))

    def take(self, row: KeyValue | None) -> None:
        """Take what the store has told."""
        self.row, self.confirmed = with_revision(row), True

    async def confirm(self) -> bool:
        """Whether the row is the newest; if not, it is from now on. Raises `Untransformable`, `StoreUnavailable`."""
        if self.confirmed:
            return True
        before = self.row
        await self._store.cache.fresh()
        self.row = row_of(self._store.cache.get(self._key))
        self.confirmed = True
        return _revision(before) == _revision(self.row)


async def guaranteed(store: ResourceStore, name: str, key: str, attempt: Callable[[Origin], Awaitable[T]]) -> T:
    """What the first attempt says that began from the newest row. Raises what it raises, and 409 after too many."""
    origin = Origin(store, key)
    for _ in range(TRIES_MAX):
        try:
            origin.look()
            result = await attempt(origin)
        except Conflict as conflict:
            origin.take(conflict.current)
        except KeyExists:
            origin.take(await store.store.get(key))
        except (OutcomeUnknown, StoreUnavailable):
            raise
        except Exception:
            if await origin.confirm():
                raise
        else:
            if await origin.confirm():
                return result
    raise errors.conflict(store.definition.group_resource, name, errors.OPTIMISTIC_LOCK_MESSAGE)


def _revision(row: KeyValue | None) -> int:
    return 0 if row is None else row.mod_revision
