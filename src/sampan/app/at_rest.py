"""Whether what lies in the store is encrypted, and by whom."""

from importlib import import_module
from typing import Protocol

from sampan.app.settings import UpSettings
from sampan.server.apiserver import ApiServer
from sampan.storage.store import Store


class AtRest(Protocol):
    """What stands between a server and its store."""

    def wrap(self, store: Store) -> Store:
        """The store as the server is to use it."""

    def attach(self, api: ApiServer, server: str = "") -> None:
        """Know the cluster on that store, and be asked with its health and its metrics. `server`: this one's name.

        Assumption: it has not been started yet.
        """

    async def run(self) -> None:
        """Keep up with the configuration and the keys, until cancelled."""


class Unencrypted:
    """Nothing."""

    def wrap(self, store: Store) -> Store:
        """See `AtRest`."""
        return store

    def attach(self, api: ApiServer, server: str = "") -> None:
        """See `AtRest`."""

    async def run(self) -> None:
        """See `AtRest`."""


def at_rest_of(settings: UpSettings) -> AtRest:
    """Raises `StartError` for a configuration that cannot be used."""
    if settings.encryption_provider_config is None:
        return Unencrypted()
    # By name, and only here: what it needs takes time and memory to load, which others need not pay.
    made: AtRest = import_module("sampan.app.encryption").Encryption(
        settings.encryption_provider_config, reload=settings.encryption_provider_config_automatic_reload
    )
    return made
