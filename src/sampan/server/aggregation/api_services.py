"""`ApiServices`: index of the APIServices, which each request queries.

Concurrency: there are no tasks. The caller runs `catch_up` after a write to APIServices. Without backends, a query
costs a tenth of a microsecond. Otherwise each query first applies the writes since the last one.
"""

from collections.abc import Mapping
from typing import Protocol

from sampan.registry.follower import Apply, Follower
from sampan.server.aggregation.api_service import GROUP, RESOURCE, ApiService, api_service_of
from sampan.storage.encoding import decode
from sampan.storage.records import Record

GroupVersion = tuple[str, str]


class ApiServiceReader(Protocol):
    """Source of APIServices."""

    def follow(self, group: str, resource: str, apply: Apply) -> Follower:
        """Return a follower. See `CacheReader.follow`."""


class ApiServices:
    """All APIServices of a cluster, by group and version. The group of APIServices is always served locally."""

    def __init__(self, reader: ApiServiceReader) -> None:
        self._by_key: dict[str, ApiService] = {}
        self._present: dict[GroupVersion, ApiService] = {}
        self._remote: dict[GroupVersion, ApiService] = {}
        self._generation = 0
        self._follower = reader.follow(GROUP, RESOURCE, self._apply)

    def remote(self) -> Mapping[GroupVersion, ApiService]:
        """Return the APIServices with a backend. Do not change or keep the result."""
        if self._remote:
            self._follower.poll()
        return self._remote

    def catch_up(self) -> None:
        """Apply pending writes."""
        self._follower.poll()

    def present(self) -> Mapping[GroupVersion, ApiService]:
        """Return all APIServices. Do not change or keep the result."""
        self._follower.poll()
        return self._present

    @property
    def generation(self) -> int:
        """Return a number that grows with each change."""
        self._follower.poll()
        return self._generation

    def _apply(self, key: str, record: Record | None) -> None:
        before = self._by_key.pop(key, None)
        if before is not None:
            place = (before.group, before.version)
            self._present.pop(place, None)
            self._remote.pop(place, None)
        if record is not None:
            found = api_service_of(decode(record.value))
            place = (found.group, found.version)
            self._by_key[key] = self._present[place] = found
            if found.service is not None and found.group != GROUP:
                self._remote[place] = found
        self._generation += 1
