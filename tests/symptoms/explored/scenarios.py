"""A boat gets two berths."""

from sampan.client import NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Builder, Manager, Request
from sampan.resource import ObjectMeta, ResourceInfo
from sampan.testing import Cluster
from sampan.testing.explore import scenario
from tests.symptoms.harbour.boat import Boat, BoatSpec

BERTHS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats, berths = manager.client.resource(Boat), manager.client.resource(BERTHS)

    async def reconcile(request: Request) -> None:
        try:
            await boats.get(request.name)
        except NotFound:
            return
        names = {each["metadata"]["name"] for each in (await berths.list()).items}
        if "port" not in names:
            for name in ("port", "starboard"):
                await berths.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})

    Builder(manager).for_(Boat).complete(reconcile)


@scenario(set_up, crds=[Boat])
async def two_berths(cluster: Cluster) -> None:
    """Create a boat."""
    await cluster.apply(Boat(metadata=ObjectMeta(name="junk"), spec=BoatSpec(length=60)))
