"""Create the objects of a new cluster: system namespaces, the Service `kubernetes`, an account, PriorityClasses.

Source: kubernetes pkg/controlplane/controller/{systemnamespaces,kubernetesservice} (1.36).
"""

import asyncio
import logging

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.endpoint import Endpoint
from sampan.registry.kinds.scheduling.priority_class import SYSTEM_PRIORITY_CLASSES
from sampan.registry.strategy import Context
from sampan.registry.write.own import create

SYSTEM_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")
_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved to "
    "another node if necessary.",
}
_USER = "system:apiserver"
_CLAIM_TRIES = 20
_CLAIM_PAUSE_S = 0.05
_log = logging.getLogger(__name__)


async def bootstrap_priority_classes(priority_classes: Endpoint, clock: Clock) -> None:
    """Create the two PriorityClasses of Pods that a cluster cannot run without.

    Source: kubernetes pkg/apis/scheduling/v1/helpers.go (1.36).
    """
    for name, value in SYSTEM_PRIORITY_CLASSES.items():
        priority_class = {"metadata": {"name": name}, "value": value, "description": _DESCRIPTIONS[name]}
        await _ensure(priority_classes, priority_class, clock)


async def bootstrap(namespaces: Endpoint, services: Endpoint, *, clock: Clock, port: int) -> None:
    """Create the missing namespaces and the Service `kubernetes`. `port` is the server's port, the target port of the
    Service.
    """
    for name in SYSTEM_NAMESPACES:
        await _ensure(namespaces, {"metadata": {"name": name}, "spec": {}}, clock)
    await _ensure_service(services, port, clock)


async def _ensure_service(services: Endpoint, port: int, clock: Clock) -> None:
    """Create the Service `kubernetes`. Retry while another server has claimed its address.

    Another server may have claimed the address and not written the Service yet. If that server stopped before the
    write, its claim is released after a minute. `KubernetesService` calls this function again.
    """
    for _ in range(_CLAIM_TRIES):
        try:
            await _ensure(services, _kubernetes_service(port, services.store.allocation.allocators.first), clock)
        except StatusError as error:
            if error.reason is not Reason.INVALID:
                raise
            refused = error
        else:
            return
        await asyncio.sleep(_CLAIM_PAUSE_S)
        await services.store.cache.fresh()
    _log.warning("cannot create the Service kubernetes yet; retrying", extra={"error": refused.message})


async def bootstrap_default_account(accounts: Endpoint, clock: Clock) -> None:
    """Create the account of Pods in namespace default, so that the first Pods do not wait for a controller.

    The serviceaccount-controller creates an account with this name in every namespace, also in this one.
    """
    await _ensure(accounts, {"metadata": {"name": "default", "namespace": "default"}}, clock)


def _kubernetes_service(port: int, address: str) -> Object:
    return {
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": address,
            "type": "ClusterIP",
            "sessionAffinity": "None",
        },
    }


async def _ensure(endpoint: Endpoint, obj: Object, clock: Clock) -> None:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    store = endpoint.store
    if store.cache.get(store.key(namespace, metadata["name"])) is not None:
        return
    obj = {"kind": endpoint.definition.kind, "apiVersion": endpoint.api_version, **obj}
    endpoint.compiled.decode(obj)
    store.strategy.default(obj)
    ctx = Context(user=_USER, groups=("system:masters",), namespace=namespace, name=metadata["name"])
    try:
        await create(store, ctx, obj, clock)
    except StatusError as error:
        if error.reason is not Reason.ALREADY_EXISTS:
            raise
