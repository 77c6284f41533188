"""`Parts`: parts of a server that a server for tests replaces."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sampan.registry.cluster import Cluster
from sampan.schema.builtin import Definitions
from sampan.server.apiserver import ApiServer
from sampan.server.pki.directory import Credentials
from sampan.server.request import Filter
from sampan.storage.store import Store


async def _nothing_beside(api: ApiServer, token: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a server. The defaults are those of `sampan up`."""

    store: Store | None = None
    """Store, instead of that of the settings."""
    schemas: Definitions | None = None
    """Schemas that servers share."""
    credentials: Credentials | None = None
    """Keys and certificates in another directory than that of the settings. They are used as they are."""
    faults: Callable[[Cluster], Filter] | None = None
    """Returns the filter that injects faults."""
    beside: Callable[[ApiServer, str], Awaitable[None]] = _nothing_beside
    """Runs next to the server once it is ready. The second argument is the administrator's token."""
