"""`StoredOrigin`: the stored row that an attempt of a write begins from.

An attempt begins from the row in the watch cache. The store compares the row's revision when it writes, so a write
needs only one call of the store. An attempt may also end with an error or without a write. That result is valid only
after `confirm` has reported the row as the newest.
Source: apiserver pkg/storage/etcd3/store.go GuaranteedUpdate, conditionalDelete (1.36).
"""

import msgspec

from sampan.registry.rest.store import ResourceStore, row_of, with_revision
from sampan.storage.store import KeyValue, Revision


class StoredOrigin(msgspec.Struct, eq=False):
    """Row at one key; None if the key does not exist. Its value has the resourceVersion filled in.

    `confirmed`: the store has reported the row as the newest, or has accepted a write over it.
    """

    _store: ResourceStore
    key: str
    row: KeyValue | None = None
    confirmed: bool = False

    @property
    def present(self) -> KeyValue:
        """The row of an object that exists."""
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
        """Take the row from the cache, unless the store has already reported a row. Raises `Untransformable`."""
        if not self.confirmed:
            cache = self._store.cache.newest
            cache.poll()
            self.row = row_of(cache.get(self.key))

    def take(self, row: KeyValue | None) -> None:
        """Take a row that the store has reported."""
        self.row, self.confirmed = with_revision(row), True

    async def confirm(self) -> bool:
        """Return True if the row is the newest. Otherwise take the newest row and return False. Raises
        `Untransformable`, `StoreUnavailable`.
        """
        if self.confirmed:
            return True
        before = self.row
        cache = await self._store.fresh_cache()
        self.row = row_of(cache.get(self.key))
        self.confirmed = True
        return _revision(before) == _revision(self.row)


def _revision(row: KeyValue | None) -> int:
    return 0 if row is None else row.mod_revision
