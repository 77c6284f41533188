"""D1: a conflict of the status is ignored, because the next event repeats the reconcile; but a label makes no event."""

from sampan.client import Conflict
from sampan.operator import Builder, GenerationChanged, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, STORES, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the conflict is raised, so the reconcile is repeated."""

    def set_up(manager: Manager) -> None:
        stores = manager.client.resource(STORES)

        async def reconcile(request: Request) -> None:
            found = await stores.find(request)
            if found is None or found.get("status") == {"state": "Ready"}:
                return
            try:
                await stores.update_status({**found, "status": {"state": "Ready"}})
            except Conflict:
                if repaired:
                    raise

        Builder(manager).for_(STORES, predicates=[GenerationChanged()]).complete(reconcile)

    @scenario(set_up, crds=[CRD])
    async def ready(cluster: Cluster) -> None:
        await cluster.apply(store())

    return ready
