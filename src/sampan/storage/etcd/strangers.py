"""`strangers`: endpoints that are named together, and belong to different clusters.

What is written through one of them is not in the other one; whoever turned to it when the first one fails would take it
for a backup that was restored.
"""

import asyncio
from typing import Final

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.diagnosis import Finding
from sampan.storage.etcd.endpoint import Endpoint
from sampan.storage.etcd.settings import EtcdSettings

_PATIENCE_S: Final = 1.0


async def strangers(settings: EtcdSettings) -> list[Finding]:
    """Those that say now that they are of another cluster than the first one that says anything."""
    if len(settings.servers) == 1:
        return []
    told = await asyncio.gather(*(_cluster(server, settings) for server in settings.servers))
    known = [(server, cluster) for server, cluster in zip(settings.servers, told, strict=True) if cluster]
    if not known:
        return []
    first, own = known[0]
    return [
        Finding(server, f"is a member of another cluster ({cluster:x}) than {first} ({own:x})", passes=False)
        for server, cluster in known
        if cluster != own
    ]


async def _cluster(server: str, settings: EtcdSettings) -> int:
    """0: it does not say."""
    endpoint = Endpoint(server, settings)
    try:
        status = await endpoint.call(messages.STATUS, messages.StatusRequest(), _PATIENCE_S)
    except AioRpcError:
        return 0
    finally:
        await endpoint.close()
    return int(status.header.cluster_id)
