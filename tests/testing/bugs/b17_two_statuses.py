"""B17: a crash between two writes of the status leaves a Pod that is never deleted (nifikop #79).

A ConfigMap stands for the Pod.
"""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, exists, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: one write of the status, and the Pod decides."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        state, present = found.get("status", {}).get("state"), await exists(client, MAPS, "pod")
        if found["spec"]["replicas"] > 0:
            if not present:
                await client.resource(MAPS).create(config_map("pod"))
            if not repaired and state is None:
                await _set_state(client, "ConfigInSync")
                await _set_state(client, "UpscaleSucceeded")
            elif repaired and state != "UpscaleSucceeded":
                await _set_state(client, "UpscaleSucceeded")
        elif repaired or state == "UpscaleSucceeded":
            if present:
                await client.resource(MAPS).delete("pod")
            if state != "DownscaleSucceeded":
                await _set_state(client, "DownscaleSucceeded")
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def up_and_down(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        await cluster.settled()
        await cluster.apply(store(replicas=0))

    return up_and_down


async def _set_state(client: Client, state: str) -> None:
    await client.resource(STORES).status.patch("s", MergePatch({"status": {"state": state}}))
