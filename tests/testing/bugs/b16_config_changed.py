"""B16: the Pod is restarted only if the status requires it, and a crash loses that status (nifikop #49)."""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair. The ConfigMap `pod` stands for a Pod with its config."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        desired, maps = {"config": found["spec"]["config"]}, client.resource(MAPS)
        present = {each["metadata"]["name"]: each for each in (await maps.list()).items}
        if "config" not in present:
            await maps.create(config_map("config", desired))
        if "pod" not in present:
            await maps.create(config_map("pod", desired))
            if not repaired:
                return None
        if repaired:
            for name in ("config", "pod"):
                if name in present and present[name]["data"] != desired:
                    await maps.patch(name, MergePatch({"data": desired}))
            return None
        state = found.get("status", {}).get("state")
        if present.get("config", {}).get("data") != desired:
            await maps.patch("config", MergePatch({"data": desired}))
            await client.resource(STORES).status.patch("s", MergePatch({"status": {"state": "OutOfSync"}}))
        elif state == "OutOfSync":
            await maps.patch("pod", MergePatch({"data": desired}))
            await client.resource(STORES).status.patch("s", MergePatch({"status": {"state": "InSync"}}))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def new_config(cluster: Cluster) -> None:
        await cluster.apply(store(config="old"))
        await cluster.settled()
        await cluster.apply(store(config="new"))

    return new_config
