"""The Service and the ConfigMap by which clients find a leader."""

from sampan.client import NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.operator import CachedClient, is_controlled_by, set_controller_reference
from sampan.resource import Object, ResourceInfo

from captains.captain.term import CAPTAIN, LEADER, ROLE, Term
from captains.captain.v1 import Captain

SERVICES = ResourceInfo(GroupVersionResource("", "v1", "services"), "Service", namespaced=True)
CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)


async def publish(client: CachedClient, captain: Captain, term: Term, leader: Object | None) -> None:
    """Create or change what `spec.publish` names, and remove what it named before."""
    service = {
        "spec": {
            "selector": {**captain.spec.selector, ROLE: LEADER, CAPTAIN: captain.metadata.name},
            "ports": [{"port": captain.spec.port}],
        }
    }
    address = ((leader or {}).get("status") or {}).get("podIP", "")
    file = {"data": {"leader": term.pod, "epoch": str(term.epoch), "address": address}}
    await _publish(client, captain, SERVICES, service if captain.spec.publish == "service" else None)
    await _publish(client, captain, CONFIG_MAPS, file if captain.spec.publish == "file" else None)


async def _publish(client: CachedClient, captain: Captain, kind: ResourceInfo, content: Object | None) -> None:
    """Apply the object named as the captain; without content, delete it if the captain has made it."""
    objects = client.resource(kind, namespace=captain.metadata.namespace)
    name = captain.metadata.name
    if content is not None:
        metadata = {"name": name, "namespace": captain.metadata.namespace}
        applied = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **content}
        set_controller_reference(captain, applied)
        await objects.apply(applied, force=True)
        return
    try:
        if is_controlled_by(await objects.get(name), captain):
            await objects.delete(name)
    except NotFound:
        pass
