"""What a new cluster holds: the system namespaces and the `kubernetes` Service.

Source: kubernetes pkg/controlplane/controller/{systemnamespaces,kubernetesservice} (1.36).
"""

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.create import CreateOptions, create
from sampan.registry.strategy import Context

SYSTEM_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")
_USER = "system:apiserver"


async def bootstrap(namespaces: Endpoint, services: Endpoint, *, clock: Clock, port: int) -> None:
    """Create what is missing. `port` is the server's own, the target of the `kubernetes` Service."""
    for name in SYSTEM_NAMESPACES:
        await _ensure(namespaces, {"metadata": {"name": name}, "spec": {}}, clock)
    await _ensure(services, _kubernetes_service(port), clock)


def _kubernetes_service(port: int) -> Object:
    return {
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": "10.96.0.1",
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
        await create(store, ctx, obj, CreateOptions(clock=clock))
    except StatusError as error:
        if error.reason is not Reason.ALREADY_EXISTS:
            raise
