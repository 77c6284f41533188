"""`DerivedCache`: what plug-ins derive from other objects, made once for each of their states."""

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
    """Things made from the objects of one resource, each kept until its object changes.

    Of objects that are gone some is kept for a while, not more than of those that are there. Bounded: at the bound all
    is forgotten and made anew.
    """

    def __init__(self, reader: CacheReader, group: str, resource: str, make: Callable[[Object], T]) -> None:
        """`make` must not keep the object beyond what it gives."""
        self._reader = reader
        self._group = group
        self._resource = resource
        self._make = make
        self._known: dict[str, tuple[int, T]] = {}
        self._room = _ROOM_MIN

    def get(self, name: str, namespace: str = "") -> T | None:
        """Of one object; None when there is none."""
        record = self._reader.record(self._group, self._resource, namespace, name)
        return None if record is None else self.of(record)

    async def find(self, name: str, namespace: str = "") -> T | None:
        """The same, but nothing is said to be absent that another server on the same store has made."""
        found = self.get(name, namespace)
        if found is None:
            await self._reader.fresh(self._group, self._resource)
            found = self.get(name, namespace)
        return found

    def list(self, namespace: str = "") -> Sequence[T]:
        """Of all objects of a namespace, or of the resource, by their names."""
        records = self._reader.records(self._group, self._resource, namespace)
        return [self.of(record) for record in records] if records else ()

    def of(self, record: Record) -> T:
        """Of an object as it lies in the cache."""
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
    """One of all objects of a resource (the default class); chosen again only after something was written to it."""

    def __init__(self, reader: CacheReader, kind: tuple[str, str], choose: Callable[[list[Object]], T | None]) -> None:
        """`kind`: group and resource. `choose` may give None."""
        self._reader = reader
        self._kind = kind
        self._choose = choose
        self._records: Sequence[Record] | None = None
        self._chosen: T | None = None

    def get(self) -> T | None:
        """The one that is chosen now."""
        records = self._reader.records(*self._kind)
        if records is not self._records:
            self._chosen = self._choose([decode(record.value) for record in records])
            self._records = records
        return self._chosen
