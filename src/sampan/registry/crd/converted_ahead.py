"""`ConvertedAhead`: converts custom resources to their other served versions when they change.

Lists in these versions then come from the cache of converted records, also while the conversion webhook is down. No
list calls the webhook for an object that was converted before. Writes do not wait for it.

Concurrency: `run` is a task of the cluster, one for each CRD with a webhook and two served versions. Changes within
`PAUSE_S` share a review. What waits is a set of keys. Nothing is converted ahead if the cache could not hold it.

Source: apiextensions pkg/apiserver/customresource_handler.go, apiserver pkg/storage/cacher (1.36). In Kubernetes, each
served version has a watch cache, which decodes, and so converts, every change.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import Final

from sampan.core.errors import StatusError
from sampan.registry.definition import ResourceDefinition, WebhookConversion
from sampan.storage.cache import WatchCache
from sampan.storage.records import CacheReset, Delivery, Record, WatcherTooSlow

PAUSE_S: Final = 0.1
RETRY_MAX_S: Final = 30.0
_REVIEW_OBJECTS_MAX: Final = 100
_REVIEW_BYTES_MAX: Final = 1 << 20
_log = logging.getLogger(__name__)


def other_versions(definition: ResourceDefinition) -> list[str]:
    """Return the apiVersions of the served versions that need the webhook."""
    if definition.webhook is None:
        return []
    return [
        version.api_version_of(definition.group)
        for name, version in definition.versions.items()
        if version.served and name != definition.storage_version
    ]


class ConvertedAhead:
    """Conversions of the changes in one cache. `bytes_max` bounds the converted objects of all versions together."""

    def __init__(
        self, cache: WatchCache, webhook: WebhookConversion, api_versions: Sequence[str], bytes_max: int
    ) -> None:
        self._cache = cache
        self._webhook = webhook
        self._api_versions = api_versions
        self._bytes_max = bytes_max // len(api_versions)
        self._waiting: set[str] = set()
        self._retry_s = 0.0

    async def run(self) -> None:
        """Convert changes until cancelled, or until the resource is no longer served."""
        while True:
            try:
                async with self._cache.watch(self._cache.prefix, initial=True) as watcher:
                    while True:
                        timeout_s = self._retry_s if self._waiting else None
                        self._note((await watcher.next(timeout_s)).events)
                        await asyncio.sleep(PAUSE_S)
                        self._note((await watcher.next(0)).events)
                        await self._convert()
            except WatcherTooSlow:
                _log.info("conversions of %s are behind; starting again", self._cache.prefix)
            except CacheReset:
                if self._cache.retired or self._cache.successor is not None:
                    return
                await self._cache.wait_ready()

    def _note(self, events: Sequence[Delivery]) -> None:
        for _, event in events:
            self._waiting.add(event.record.key)

    async def _convert(self) -> None:
        """Convert what waits, or keep it for the next attempt."""
        if self._cache.size_bytes > self._bytes_max:
            self._waiting.clear()
        try:
            for records in self._reviews():
                for api_version in self._api_versions:
                    await self._webhook.records(records, api_version)
                self._waiting.difference_update(record.key for record in records)
        except StatusError as error:
            self._retry_s = min(RETRY_MAX_S, 2 * self._retry_s or 1.0)
            _log.debug("cannot convert %s ahead: %s", self._cache.prefix, error.message)
            return
        self._waiting.clear()
        self._retry_s = 0.0

    def _reviews(self) -> Iterator[list[Record]]:
        """Yield the newest records that wait, in groups for one review each."""
        group: list[Record] = []
        size_bytes = 0
        for key in sorted(self._waiting):
            record = self._cache.get(key)
            if record is None:
                continue
            if group and (len(group) >= _REVIEW_OBJECTS_MAX or size_bytes + len(record.value) > _REVIEW_BYTES_MAX):
                yield group
                group, size_bytes = [], 0
            group.append(record)
            size_bytes += len(record.value)
        if group:
            yield group
