"""`run_cluster`: a cluster with all that keeps it alive, as one component.

Concurrency: one `TaskGroup` owns the watch caches (through `Cluster.run`), the CRD controller and the compactor; it
ends by cancellation.
"""

import asyncio
from collections.abc import Callable

from sampan.registry.bootstrap import bootstrap
from sampan.registry.cluster import Cluster
from sampan.registry.crd.controller import CrdController
from sampan.storage.compactor import Compactor


async def run_cluster(cluster: Cluster, *, port: int, started: Callable[[], None]) -> None:
    """Run until cancelled. `started` is called once everything that was stored is served.

    `port` is the server's own.
    """
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(cluster.run(ready.set), name="cluster")
        await ready.wait()
        await _bootstrap(cluster, port)
        controller = CrdController(cluster)
        group.create_task(controller.run(), name="CRD controller")
        group.create_task(Compactor(cluster.store).run(), name="compactor")
        await controller.synced.wait()
        started()


async def _bootstrap(cluster: Cluster, port: int) -> None:
    namespaces = cluster.endpoint("", "v1", "namespaces")
    services = cluster.endpoint("", "v1", "services")
    assert namespaces is not None
    assert services is not None
    await bootstrap(namespaces, services, clock=cluster.clock, port=port)
