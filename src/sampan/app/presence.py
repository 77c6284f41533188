"""`Presence`: registers a server in the store while it serves, and removes it when it ends.

Concurrency: `run` is one task of the process, which ends by cancellation.
"""

import asyncio
import logging
import socket
from typing import Final

from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster
from sampan.server.post_start_hooks.api_servers.addresses import Address, ServerAddresses
from sampan.server.post_start_hooks.api_servers.identity_lease import IdentityLease, ServerName
from sampan.server.post_start_hooks.api_servers.keys import ServerKeys
from sampan.server.post_start_hooks.kubernetes_service import KubernetesService

LEAVE_TIMEOUT_S: Final = 3.0
_log = logging.getLogger("sampan.app")


class Presence:
    """Registration of one server: its address in the Service `kubernetes`, and its identity Lease.

    The Service has the address of this server. If the store can be shared, it has those of all servers.
    """

    def __init__(self, settings: UpSettings, cluster: Cluster, own: Address, keys: ServerKeys) -> None:
        servers = ServerAddresses(cluster.store, own) if settings.storage.shared else None
        self.service = KubernetesService(
            cluster.endpoint, cluster.clock, port=own.port, address=own.ip, servers=servers
        )
        leases = cluster.endpoint("coordination.k8s.io", "v1", "leases")
        assert leases is not None
        name = ServerName(socket.gethostname(), own.port)
        self.name = name.lease
        self._identity = IdentityLease(leases.store, cluster.clock, name, keys)
        self._silent = settings.read_only

    async def run(self) -> None:
        """Renew the identity Lease, until cancelled. The server must be ready."""
        if not self._silent:
            await self._identity.run()

    async def leave(self) -> None:
        """Deregister this server. Errors of the store are logged, because the server ends in any case."""
        if self._silent:
            return
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self.service.end()
                await self._identity.remove()
        except Exception as error:
            _log.warning("cannot remove the address and Lease of this server at shutdown", extra={"error": str(error)})
