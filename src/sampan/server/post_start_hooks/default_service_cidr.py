"""Claim the addresses and ports of stored Services before the server starts, and create the ServiceCIDR `kubernetes`.

Source: kubernetes pkg/controlplane/controller/defaultservicecidr (1.36).
"""

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.cluster import Cluster
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, create, update
from sampan.registry.write.write import Part
from sampan.server.post_start_hooks.allocation_repair import AllocationRepair
from sampan.storage.encoding import decode
from sampan.storage.store import Untransformable

NAME = "kubernetes"
_USER = "system:apiserver"


async def prepare_allocation(cluster: Cluster) -> AllocationRepair:
    """Create the missing ServiceCIDR and claims. Return the repair loop, which the caller must run."""
    services = cluster.endpoint("", "v1", "services")
    service_cidrs = cluster.endpoint("networking.k8s.io", "v1", "servicecidrs")
    assert services is not None
    assert service_cidrs is not None
    cidrs = [str(allocator.network) for allocator in cluster.allocators.ips.values()]
    await _ensure_service_cidr(service_cidrs.store, cidrs, cluster.clock)
    repair = AllocationRepair(cluster.claims, services.store, cluster.clock, cluster.measures.repair_failed)
    await repair.once()
    return repair


async def _ensure_service_cidr(store: ResourceStore, cidrs: list[str], clock: Clock) -> None:
    try:
        record = store.cache.get(store.key("", NAME))
    except Untransformable:
        return  # already logged; no address is allocated until the object is rewritten or removed
    if record is not None and (decode(record.value).get("status") or {}).get("conditions"):
        return
    ctx = Context(user=_USER, groups=("system:masters",), name=NAME)
    api = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1"}
    desired: Object = {**api, "metadata": {"name": NAME}, "spec": {"cidrs": cidrs}}
    try:
        await create(store, ctx, desired, clock)
    except StatusError as error:
        if error.reason is not Reason.ALREADY_EXISTS:
            raise  # else another server created it, perhaps one that stopped before it wrote the condition Ready

    def ready(obj: Object, old: Object) -> None:
        condition = {
            "type": "Ready",
            "status": "True",
            "lastTransitionTime": timestamp(clock),
            "reason": "",
            "message": "Kubernetes default Service CIDR is ready",
        }
        obj["status"] = {"conditions": [condition]}

    await update(store, ctx, ready, clock, UpdateOptions(part=Part.STATUS))
