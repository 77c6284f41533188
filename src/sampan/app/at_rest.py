"""`AtRest`: encryption of the stored values, or none."""

from importlib import import_module
from typing import Protocol

from sampan.app.settings import UpSettings
from sampan.registry.rest.store import IsStale
from sampan.server.apiserver import ApiServer
from sampan.storage.store import Store


class AtRest(Protocol):
    """Layer between a server and its store."""

    def wrap(self, store: Store) -> Store:
        """Return the store as the server must use it."""

    def attach(self, api: ApiServer, server: str = "") -> None:
        """Connect the layer to the API server on that store, and add health checks and metrics.

        `server`: name of this server.

        Assumption: `api` has not been started yet.
        """

    @property
    def is_stale(self) -> IsStale | None:
        """Predicate for stored values that must be written again; None if no value must be."""

    async def run(self) -> None:
        """Reload the configuration and check the keys, until cancelled."""


class Unencrypted:
    """No encryption."""

    is_stale: IsStale | None = None
    """See `AtRest`."""

    def wrap(self, store: Store) -> Store:
        """See `AtRest`."""
        return store

    def attach(self, api: ApiServer, server: str = "") -> None:
        """See `AtRest`."""

    async def run(self) -> None:
        """See `AtRest`."""


def at_rest_of(settings: UpSettings) -> AtRest:
    """Return the layer for these settings. Raises `StartError` for a configuration that cannot be used."""
    if settings.encryption_provider_config is None:
        return Unencrypted()
    # Imported by name and only here: its dependencies take time and memory, which servers without encryption save.
    made: AtRest = import_module("sampan.app.encryption").Encryption(
        settings.encryption_provider_config, reload=settings.encryption_provider_config_automatic_reload
    )
    return made
