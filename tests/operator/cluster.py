"""A client of a whole server in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client.client import Client
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from sampan.testing.servers.in_process import InProcessTransport
from tests.server.cluster import served
from tests.server.frame import MASTER

CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
SECRETS = ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", namespaced=True)
TIME_LIMIT_S = 60.0


@asynccontextmanager
async def cluster_client() -> AsyncIterator[Client]:
    """Serve as long as the block lasts; what takes too long fails there."""
    async with (
        asyncio.timeout(TIME_LIMIT_S),
        served() as api,
        Client(InProcessTransport(api.server.handler, headers=MASTER)) as client,
    ):
        yield client
