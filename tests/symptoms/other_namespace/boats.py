"""An operator that reserves a berth in the namespace of the quay."""

from sampan.client import NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Builder, Manager, Request, main
from sampan.resource import ResourceInfo
from tests.symptoms.harbour.boat import Boat

BERTHS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats = manager.client.resource(Boat, namespace="")
    berths = manager.client.resource(BERTHS, namespace="quay")

    async def reconcile(request: Request) -> None:
        try:
            boat = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        owner = {"apiVersion": "harbour.example.com/v1", "kind": "Boat", "name": request.name, "uid": boat.metadata.uid}
        berth = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": f"berth-{request.name}",
                "ownerReferences": [owner],
            },
        }
        await berths.apply(berth)

    Builder(manager).for_(Boat).complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boats")
