"""`ServerParts`: parts of a server that a server for tests replaces."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster
from sampan.server.apiserver import ApiServer
from sampan.server.pki.directory import ServerCredentials
from sampan.server.request import Filter


async def _nothing_beside(api: ApiServer, token: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Parts of a server. The defaults are those of `sampan up`."""

    cluster: Callable[[UpSettings], Cluster] | None = None
    """Returns the cluster on its store, instead of that of the settings."""
    credentials: ServerCredentials | None = None
    """Keys and certificates in another directory than that of the settings. They are used as they are."""
    faults: Callable[[Cluster], Filter] | None = None
    """Returns the filter that injects faults."""
    beside: Callable[[ApiServer, str], Awaitable[None]] = _nothing_beside
    """Runs next to the server once it is ready. The second argument is the administrator's token."""
