"""`run_cluster`: runs a cluster with all its maintenance tasks, as one component.

Concurrency: one `TaskGroup` owns the watch caches (through `Cluster.run`), the CRD controller, the compactor, the
reconcilers of bootstrap objects, and the loops of aggregation. It also owns the task that writes the statuses of
policies. It ends by cancellation.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from sampan.app.engines.contents import holds_nothing
from sampan.app.keep_running import keep_running, until_done
from sampan.registry.cluster import Cluster
from sampan.registry.crd_controller.controller import CrdController
from sampan.server.admission.policy.status import PolicyStatus
from sampan.server.aggregation.aggregator import Aggregator
from sampan.server.authorization.bootstrap_policy.reconcile import ensure_policy
from sampan.server.post_start_hooks.bootstrap import bootstrap_default_account, bootstrap_priority_classes
from sampan.server.post_start_hooks.default_service_cidr import prepare_allocation
from sampan.server.post_start_hooks.flow_control import ensure_flow_control, keep_flow_control
from sampan.server.post_start_hooks.kubernetes_service import KubernetesService
from sampan.server.resource_metrics.role import reader_role
from sampan.storage.compactor import Compactor
from sampan.storage.history.settings import HistorySettings

_log = logging.getLogger("sampan.app")


async def run_cluster(
    cluster: Cluster,
    *,
    service: KubernetesService,
    started: Callable[[], None],
    default_account: bool = False,
    aggregator: Aggregator | None = None,
    bootstrapped: bool = False,
    extra_apis: bool = True,
    resource_metrics: bool = False,
    history: HistorySettings = HistorySettings(),
) -> None:
    """Run until cancelled. `started` is called once all stored objects are served.

    `service`: the Service of the server. `default_account`: Pods need a default account from the start. Without
    `aggregator` APIServices are not reconciled. `bootstrapped`: the store is a copy of one that has all bootstrap
    objects. `extra_apis`: serve APIs that Kubernetes does not have. `resource_metrics`: the server serves
    metrics.k8s.io, which has a ClusterRole. `history`: the past states that the store keeps.
    """
    if not extra_apis:
        cluster.drop_extra_apis()
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(cluster.run(ready.set, until_done), name="cluster")
        await ready.wait()
        if not bootstrapped and await until_done("a look at what is stored", partial(holds_nothing, cluster.store)):
            _log.info("store is empty: starting a new cluster")
        repair = await until_done("the preparation of addresses", partial(prepare_allocation, cluster))
        group.create_task(repair.run(), name="claims of Services")
        if not bootstrapped:
            step = partial(_bootstrap, cluster, service, default_account, resource_metrics)
            await until_done("the making of what there always is", step)
        group.create_task(service.keep(), name="Service kubernetes")
        controller = CrdController(cluster)
        group.create_task(keep_running("CRD controller", controller.run), name="CRD controller")
        keeping = keep_flow_control(cluster.endpoint, cluster.clock)
        group.create_task(keeping, name="objects of flow control")
        group.create_task(Compactor(cluster.store, history=history).run(), name="compactor")
        await controller.synced.wait()
        group.create_task(keep_running("status of policies", PolicyStatus(cluster).run), name="status of policies")
        if aggregator is not None:
            await until_done("the registration of APIServices", aggregator.start)
            group.create_task(keep_running("aggregation", aggregator.run), name="aggregation")
        started()


async def _bootstrap(
    cluster: Cluster, service: KubernetesService, default_account: bool, resource_metrics: bool
) -> None:
    await service.begin()
    priority_classes = cluster.endpoint("scheduling.k8s.io", "v1", "priorityclasses")
    assert priority_classes is not None
    await bootstrap_priority_classes(priority_classes, cluster.clock)
    await ensure_policy(cluster.endpoint, cluster.clock, [reader_role()] if resource_metrics else [])
    await ensure_flow_control(cluster.endpoint, cluster.clock)
    if default_account:
        accounts = cluster.endpoint("", "v1", "serviceaccounts")
        assert accounts is not None
        await bootstrap_default_account(accounts, cluster.clock)
