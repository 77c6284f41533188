"""`Encryption`: encryption at rest, with reloads of its EncryptionConfiguration.

Concurrency: `EncryptionUpkeep.run` is one task, with another for each KMS plug-in, which checks it at intervals. With
`reload` it checks every second if the file has changed. An invalid configuration, or one with an unhealthy plug-in, is
logged, and the previous one stays.

Source: apiserver pkg/server/options/encryptionconfig/controller/controller.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from pathlib import Path
from typing import Final

from sampan.app.errors import StartError
from sampan.core.extras import MissingExtra
from sampan.registry.definition import ResourceDefinition
from sampan.registry.rest.store import IsStale
from sampan.registry.stored_resources import StoredResources
from sampan.server.apiserver import ApiServer
from sampan.server.metrics.encryption import EncryptionMetrics, Reloads
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
    """Configuration of the encryption of one server. Raises `StartError`."""

    def __init__(self, file: Path, *, reload: bool = False, connect: Connect = connect_by_socket) -> None:
        self.file = file
        self.reload = reload
        self._connect = connect
        self.measures = EncryptionMeasures()
        try:
            self.content = file.read_bytes()
            self.providers = self.made(self.content)
        except OSError as error:
            raise StartError(f"cannot read {file}: {error.strerror}") from error
        except ValueError as error:
            raise StartError(f"cannot use the encryption configuration {file}: {error}") from error

    def layer(self, store: Store, definitions: Iterable[ResourceDefinition]) -> "EncryptionLayer":
        """Return the layer above `store`."""
        return EncryptionLayer(self, store, StoredResources(definitions))

    def made(self, content: bytes) -> Providers:
        """Return the providers of a configuration. Raises `ValueError`."""
        try:
            return Providers(parse_configuration(content), self._connect, self.measures)
        except MissingExtra as error:
            raise ValueError(str(error)) from None


class EncryptionLayer:
    """Encrypted store."""

    def __init__(self, encryption: Encryption, store: Store, resources: StoredResources) -> None:
        self._encryption = encryption
        self._resources = resources
        self.store: EncryptedStore = encrypted(store, encryption.providers, resources.of)
        self.is_stale: IsStale = self.store.is_stale

    def upkeep(self, api: ApiServer, server: str = "") -> "EncryptionUpkeep":
        """Return the upkeep, and add health checks and metrics to the API server on that store."""
        return EncryptionUpkeep(self._encryption, self.store, self._resources, api, server)


class EncryptionUpkeep:
    """Reloads the configuration, and checks KMS plug-ins."""

    def __init__(
        self, encryption: Encryption, store: EncryptedStore, resources: StoredResources, api: ApiServer, server: str
    ) -> None:
        self._encryption = encryption
        self._store = store
        self._resources = resources
        self._cluster = api.cluster
        self._content = encryption.content
        self.reloads = Reloads(encryption.content)
        if encryption.reload or self.providers.kms:
            # Not /livez: a restart would not repair a plug-in.
            api.health.add(CHECK_NAME, self.health, endpoints=("healthz", "readyz"))
        shown = EncryptionMetrics(encryption.measures, self.reloads, lambda: self.providers.kms, server)
        api.metrics.registry.register(shown)

    @property
    def providers(self) -> Providers:
        """Providers in use."""
        return self._store.providers

    async def health(self) -> None:
        """Raise `EncryptionError` if a plug-in is unhealthy."""
        await self.providers.health()

    async def run(self, sleep: Sleep = asyncio.sleep) -> None:
        """Reload the configuration and check the keys, until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                keeping = self._keep(group, sleep)
                while self._encryption.reload:
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
            content = self._encryption.file.read_bytes()
            if content == self._content:
                return False
            self._content = content
            providers = self._encryption.made(content)
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
        before = self.providers
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
        for prefix in list(self._cluster.caches):
            group, resource = self._resources.of(prefix) or ("", "")
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
        start, end, count = prefix, prefix_end(prefix), 0
        while True:
            found = await self._store.range(start, end, limit=_PAGE, count=False)
            count += sum(isinstance(row.value, UnreadableValue) for row in found.items)
            if len(found.items) < _PAGE:
                return count
            start = found.items[-1].key + "\0"

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
        self._cluster.reread(prefixes)
