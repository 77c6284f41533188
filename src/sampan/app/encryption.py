"""`Encryption`: encryption at rest, with reloads of its EncryptionConfiguration.

Concurrency: `run` is one task, with another for each KMS plug-in, which checks it at intervals. With `reload` it checks
every second if the file has changed. An invalid configuration, or one with an unhealthy plug-in, is logged, and the
previous one stays.

Source: apiserver pkg/server/options/encryptionconfig/controller/controller.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final

from sampan.app.errors import StartError
from sampan.core.extras import MissingExtra
from sampan.registry.cluster import Cluster
from sampan.registry.stored_resources import StoredResources
from sampan.server.apiserver import ApiServer
from sampan.server.encryption_metrics import EncryptionMetrics, Reloads
from sampan.storage.encryption.configuration import parse_configuration
from sampan.storage.encryption.kms.plugin import KmsPlugin
from sampan.storage.encryption.measures import EncryptionMeasures
from sampan.storage.encryption.providers import Connect, Providers, connect_by_socket
from sampan.storage.encryption.store import EncryptedStore, encrypted
from sampan.storage.encryption.transformer import EncryptionError
from sampan.storage.store import Store, StoreUnreachable, UnreadableValue, prefix_end

_log = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 1.0
_PAGE: Final = 500
CHECK_NAME: Final = "kms-providers"

Sleep = Callable[[float], Awaitable[None]]


class Encryption:
    """Encryption of one server. Raises `StartError`."""

    def __init__(self, file: Path, *, reload: bool = False, connect: Connect = connect_by_socket) -> None:
        self._file = file
        self._reload = reload
        self._connect = connect
        self._resources: StoredResources | None = None
        self._store: EncryptedStore | None = None
        self._cluster: Cluster | None = None
        self.measures = EncryptionMeasures()
        try:
            self._content = file.read_bytes()
            self.providers = self._made(self._content)
        except OSError as error:
            raise StartError(f"cannot read {file}: {error.strerror}") from error
        except ValueError as error:
            raise StartError(f"cannot use the encryption configuration {file}: {error}") from error
        self.reloads = Reloads(self._content)

    def wrap(self, store: Store) -> Store:
        """See `AtRest`."""
        self._store = encrypted(store, self.providers, self._resource_of)
        return self._store

    def attach(self, api: ApiServer, server: str = "") -> None:
        """See `AtRest`."""
        self._cluster = api.cluster
        self._resources = StoredResources(self._cluster.registry)
        if self._reload or self.providers.kms:
            # Not /livez: a restart would not repair a plug-in.
            api.health.add(CHECK_NAME, self.health, endpoints=("healthz", "readyz"))
        shown = EncryptionMetrics(self.measures, self.reloads, lambda: self.providers.kms, server)
        api.metrics.registry.register(shown)

    async def is_stale(self, key: str) -> bool:
        """See `AtRest`."""
        assert self._store is not None
        return await self._store.is_stale(key)

    async def health(self) -> None:
        """Raise `EncryptionError` if a plug-in is unhealthy."""
        await self.providers.health()

    async def run(self, sleep: Sleep = asyncio.sleep) -> None:
        """See `AtRest`."""
        try:
            async with asyncio.TaskGroup() as group:
                keeping = self._keep(group, sleep)
                while self._reload:
                    await sleep(LOOK_INTERVAL_S)
                    before = self.providers
                    if await self.reload():
                        for task in keeping:
                            task.cancel()
                        before.close()
                        keeping = self._keep(group, sleep)
        finally:
            self.providers.close()

    async def reload(self) -> bool:
        """Load the file if it has changed. Return True if a new configuration is in use."""
        try:
            content = self._file.read_bytes()
            if content == self._content:
                return False
            self._content = content
            providers = self._made(content)
        except (OSError, ValueError) as error:
            _log.warning("cannot reload the encryption configuration; keeping the old one", extra={"error": str(error)})
            self.reloads.failed()
            return False
        try:
            await providers.health()
        except EncryptionError as error:
            providers.close()
            self._content = b""  # retry at the next interval
            self.reloads.failed()
            _log.warning("cannot reload the encryption configuration; keeping the old one", extra={"error": str(error)})
            return False
        before, self.providers = self.providers, providers
        if self._store is not None:
            self._store.use(providers)
        self.reloads.succeeded(content)
        _log.info("encryption configuration reloaded")
        self._reread(await self._unreadable_prefixes(before))
        return True

    async def _unreadable_prefixes(self, before: Providers) -> list[str]:
        """Return the prefixes with objects that have become unreadable. Their caches must be read again, to report
        that.
        """
        lost = []
        for prefix in () if self._cluster is None else list(self._cluster.caches):
            group, resource = self._resource_of(prefix) or ("", "")
            transformers = (before.of(group, resource), self.providers.of(group, resource))
            if any(transformer is not self.providers.identity for transformer in transformers):
                try:
                    count = await self._unreadable_below(prefix)
                except StoreUnreachable:
                    continue  # The caches follow the store and detect it later.
                if count:
                    lost.append(prefix)
                    fields = {"group": group, "resource": resource, "objects": count}
                    _log.error("cannot read objects with this encryption configuration: a key is missing", extra=fields)
        return lost

    async def _unreadable_below(self, prefix: str) -> int:
        assert self._store is not None
        start, end, count = prefix, prefix_end(prefix), 0
        while True:
            found = await self._store.range(start, end, limit=_PAGE, count=False)
            count += sum(isinstance(row.value, UnreadableValue) for row in found.items)
            if len(found.items) < _PAGE:
                return count
            start = found.items[-1].key + "\0"

    def _made(self, content: bytes) -> Providers:
        try:
            return Providers(parse_configuration(content), self._connect, self.measures)
        except MissingExtra as error:
            raise ValueError(str(error)) from None

    def _keep(self, group: asyncio.TaskGroup, sleep: Sleep) -> list[asyncio.Task[None]]:
        return [
            group.create_task(self._check_at_intervals(provider, sleep), name=f"KMS {provider.name}")
            for provider in self.providers.kms
        ]

    async def _check_at_intervals(self, provider: KmsPlugin, sleep: Sleep) -> None:
        while True:
            was_healthy = provider.healthy
            await sleep(provider.pause_s)
            try:
                await provider.check()
            except EncryptionError as error:
                _log.warning(
                    "KMS plug-in check failed; retrying", extra={"provider": provider.name, "error": str(error)}
                )
            if provider.healthy and not was_healthy:
                self._reread()

    def _reread(self, prefixes: Collection[str] = ()) -> None:
        if self._cluster is not None:
            self._cluster.reread(prefixes)

    def _resource_of(self, key: str) -> tuple[str, str] | None:
        return None if self._resources is None else self._resources.of(key)
