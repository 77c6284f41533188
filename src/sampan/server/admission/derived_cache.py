"""Caches of values that plug-ins derive from objects."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.storage.encoding import decode
from sampan.storage.records import Record

T = TypeVar("T")

_KEPT_MAX = 10_000
_ROOM_MIN = 64


class DerivedCache(Generic[T]):
    """Cache of values that are derived from the objects of one resource. An entry is valid until its object changes.

    Entries of deleted objects are removed when the cache has doubled its size. At its maximum size the cache is
    cleared.
    """

    def __init__(self, reader: CacheReader, group: str, resource: str, make: Callable[[Object], T]) -> None:
        """`make` derives a value. It must not keep a reference to the object elsewhere."""
        self._reader = reader
        self._group = group
        self._resource = resource
        self._make = make
        self._known: dict[str, tuple[int, T]] = {}
        self._room = _ROOM_MIN

    def get(self, name: str, namespace: str = "") -> T | None:
        """Return the value of an object, or None if the object does not exist."""
        record = self._reader.record(self._group, self._resource, namespace, name)
        return None if record is None else self.of(record)

    async def find(self, name: str, namespace: str = "") -> T | None:
        """Return the value of an object. An object that another server has just created is found too."""
        found = self.get(name, namespace)
        if found is None:
            await self._reader.fresh(self._group, self._resource)
            found = self.get(name, namespace)
        return found

    def list(self, namespace: str = "") -> Sequence[T]:
        """Return the values of all objects of a namespace or of the resource, sorted by name."""
        records = self._reader.records(self._group, self._resource, namespace)
        return [self.of(record) for record in records] if records else ()

    def of(self, record: Record) -> T:
        """Return the value of a cached record."""
        known = self._known.get(record.key)
        if known is None or known[0] != record.revision:
            if len(self._known) >= self._room:
                self._make_room()
            known = self._known[record.key] = (record.revision, self._make(decode(record.value)))
        return known[1]

    def _make_room(self) -> None:
        present = {record.key for record in self._reader.records(self._group, self._resource)}
        self._known = {key: known for key, known in self._known.items() if key in present}
        if len(self._known) >= _KEPT_MAX:
            self._known.clear()
        self._room = min(max(_ROOM_MIN, 2 * len(self._known)), _KEPT_MAX)


class DerivedValue(Generic[T]):
    """Value that is chosen from all objects of a resource, such as the default class. Cached until a write to the
    resource.
    """

    def __init__(self, reader: CacheReader, kind: tuple[str, str], choose: Callable[[list[Object]], T | None]) -> None:
        """`kind` is group and resource. `choose` may return None."""
        self._reader = reader
        self._kind = kind
        self._choose = choose
        self._records: Sequence[Record] | None = None
        self._chosen: T | None = None

    def get(self) -> T | None:
        """Return the current choice."""
        records = self._reader.records(*self._kind)
        if records is not self._records:
            self._chosen = self._choose([decode(record.value) for record in records])
            self._records = records
        return self._chosen
