"""`run_read_only`: serves a cluster without changing it.

Concurrency: one `TaskGroup` owns the watch caches (through `Cluster.run`) and the CRD controller, which only serves
custom resources here. It ends by cancellation.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from sampan.app.engines.contents import holds_nothing
from sampan.app.keep_running import until_done
from sampan.registry.cluster import Cluster
from sampan.registry.crd_controller.controller import CrdController

_log = logging.getLogger("sampan.app")


async def run_read_only(cluster: Cluster, started: Callable[[], None], *, extra_apis: bool = True) -> None:
    """Run until cancelled. `started` is called once all stored objects are served.

    Nothing is bootstrapped, compacted or registered: that is left to the servers that write to the store. `extra_apis`:
    serve APIs that Kubernetes does not have.
    """
    if not extra_apis:
        cluster.drop_extra_apis()
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(cluster.run(ready.set, until_done), name="cluster")
        await ready.wait()
        if await until_done("a look at what is stored", partial(holds_nothing, cluster.store)):
            _log.warning("store is empty: check --etcd-prefix or --data, and --etcd-servers")
        controller = CrdController(cluster, read_only=True)
        group.create_task(controller.run(), name="CRD controller")
        await controller.synced.wait()
        started()
