"""`ApiServices`: which group versions are answered elsewhere, now; asked for each request.

Concurrency: none of its own. Somebody calls `catch_up` when APIServices have been written. While no group version is
answered elsewhere, a request asks for a tenth of a microsecond; else a look takes in what has been written since.
"""

from collections.abc import Mapping
from typing import Protocol

from sampan.registry.follower import Apply, Follower
from sampan.server.aggregation.api_service import GROUP, RESOURCE, ApiService, api_service_of
from sampan.storage.encoding import decode
from sampan.storage.records import Record

GroupVersion = tuple[str, str]


class Reader(Protocol):
    """Where APIServices are read from."""

    def follow(self, group: str, resource: str, apply: Apply) -> Follower:
        """See `CacheReader.follow`."""


class ApiServices:
    """All APIServices of a cluster by group and version. This server always answers for their own group itself."""

    def __init__(self, reader: Reader) -> None:
        self._by_key: dict[str, ApiService] = {}
        self._present: dict[GroupVersion, ApiService] = {}
        self._remote: dict[GroupVersion, ApiService] = {}
        self._generation = 0
        self._follower = reader.follow(GROUP, RESOURCE, self._apply)

    def remote(self) -> Mapping[GroupVersion, ApiService]:
        """Those with a service. Not to be changed or kept."""
        if self._remote:
            self._follower.poll()
        return self._remote

    def catch_up(self) -> None:
        """Take in what has been written."""
        self._follower.poll()

    def present(self) -> Mapping[GroupVersion, ApiService]:
        """All of them. Not to be changed or kept."""
        self._follower.poll()
        return self._present

    @property
    def generation(self) -> int:
        """Grows with each change."""
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
