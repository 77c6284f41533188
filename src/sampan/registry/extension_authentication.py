"""ConfigMap kube-system/extension-apiserver-authentication: how this server knows its clients, for extension servers.

Source: kubernetes pkg/controlplane/controller/clusterauthenticationtrust (1.36).
"""

from collections.abc import Mapping

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.rest.create import CreateOptions, create
from sampan.registry.rest.update import UpdateOptions, update
from sampan.registry.strategy import Context

NAMESPACE = "kube-system"
NAME = "extension-apiserver-authentication"


async def publish_authentication(cluster: Cluster, data: Mapping[str, str]) -> None:
    """Write the ConfigMap where it is not there or says something else; other keys stay. Raises `StatusError`."""
    endpoint = cluster.endpoint("", "v1", "configmaps")
    assert endpoint is not None
    present = cluster.reader.get("", "configmaps", NAMESPACE, NAME)
    ctx = Context(user="system:apiserver", groups=("system:masters",), namespace=NAMESPACE, name=NAME)
    if present is None:
        obj: Object = {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": dict(data),
        }
        try:
            await create(endpoint.store, ctx, obj, CreateOptions(clock=cluster.clock))
            return
        except StatusError as error:
            if error.reason is not Reason.ALREADY_EXISTS:
                raise  # else another server was faster
    elif data.items() <= (present.get("data") or {}).items():
        return

    async def transform(old: Object | None, stored: bytes) -> Object:
        if old is None:
            raise endpoint.store.not_found(NAME)
        obj: Object = endpoint.store.decode(stored)
        return {**obj, "data": {**(obj.get("data") or {}), **data}}

    await update(endpoint.store, ctx, NAME, transform, UpdateOptions(clock=cluster.clock))
