"""C4: a network whose id is not recorded is created again (openstack-resource-controller #19)."""

from sampan.client import MergePatch
from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from sampan.testing.faults import external
from tests.testing.bugs.store import CRD, STORES, store


class Cloud:
    """Fake of a cloud whose networks may have equal names."""

    def __init__(self) -> None:
        self.networks: list[str] = []

    @external("cloud.create_network")
    async def create_network(self, name: str) -> int:
        """Create a network, and return its id."""
        self.networks.append(name)
        return len(self.networks)

    @external("cloud.find_network")
    async def find_network(self, name: str) -> int | None:
        """Return the id of a network."""
        return self.networks.index(name) + 1 if name in self.networks else None


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the operator looks for the network by its name first."""

    def set_up(manager: Manager, cloud: Cloud) -> None:
        async def reconcile(request: Request) -> None:
            stores = manager.client.resource(STORES)
            found = await stores.find(request)
            if found is None or "network" in found["spec"]:
                return
            number = await cloud.find_network(request.name) if repaired else None
            if number is None:
                number = await cloud.create_network(request.name)
            await stores.patch(request.name, MergePatch({"spec": {"network": number}}))

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD], system=Cloud)
    async def network(cluster: Cluster, cloud: Cloud) -> None:
        await cluster.apply(store())

    return network
