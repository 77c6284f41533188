"""`AtRest`: encryption of the stored values, or none.

A server makes the parts in the order in which it has what they need: `AtRest` from its settings, the `StoreLayer`
with its store, and the `Upkeep` with its API server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from sampan.app.settings.up import UpSettings
from sampan.registry.definition import ResourceDefinition
from sampan.registry.rest.store import IsStale
from sampan.server.apiserver import ApiServer
from sampan.storage.store import Store


class Upkeep(Protocol):
    """Work for a layer while its server runs."""

    async def run(self) -> None:
        """Reload the configuration and check the keys, until cancelled."""


class StoreLayer(Protocol):
    """Layer between a server and its store."""

    @property
    def store(self) -> Store:
        """Store as the server must use it."""

    @property
    def is_stale(self) -> IsStale | None:
        """Predicate for stored values that must be written again; None if no value must be."""

    def upkeep(self, api: ApiServer, server: str = "") -> Upkeep:
        """Return the upkeep, and add health checks and metrics to the API server on that store.

        `server`: name of this server.

        Assumption: `api` has not been started yet.
        """


class AtRest(Protocol):
    """Maker of the layer."""

    def layer(self, store: Store, definitions: Iterable[ResourceDefinition]) -> StoreLayer:
        """Return the layer above `store`. `definitions`: the built-in resources."""


@dataclass(frozen=True, slots=True)
class PlainLayer:
    """Layer that does nothing, and its upkeep."""

    store: Store
    is_stale: IsStale | None = None

    def upkeep(self, api: ApiServer, server: str = "") -> Upkeep:
        """Return the upkeep, and add health checks and metrics to the API server on that store."""
        return self

    async def run(self) -> None:
        """Do nothing."""


class Unencrypted:
    """No encryption."""

    def layer(self, store: Store, definitions: Iterable[ResourceDefinition]) -> StoreLayer:
        """Return the layer above `store`."""
        return PlainLayer(store)


def at_rest_of(settings: UpSettings) -> AtRest:
    """Return the maker of the layer for these settings. Raises `StartError` for a configuration that cannot be used."""
    if settings.encryption_provider_config is None:
        return Unencrypted()
    # Imported by name and only here: its dependencies take time and memory, which servers without encryption save.
    made: AtRest = import_module("sampan.app.storage.encryption").Encryption(
        settings.encryption_provider_config, reload=settings.encryption_provider_config_automatic_reload
    )
    return made
