"""B10: a claim is deleted only if its Pod is seen while it ends (cassandra-operator #398).

Secrets stand for Pods, ConfigMaps for their claims. The scenario does the work of the kubelet.
"""

from contextlib import suppress

from sampan.client import Client, MergePatch, NotFound
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import (
    CRD,
    FINALIZER,
    MAPS,
    SECRETS,
    STORES,
    config_map,
    exists,
    is_ending,
    operator,
    owner_of,
    secret,
    store,
)


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a claim without a Pod that needs it is deleted.

    The repair also reads the size live, because an old one would make a Pod again.
    """

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        if repaired:
            found = await client.direct.resource(STORES).get("s")  # type: ignore[attr-defined]
        desired, has_claim = found["spec"]["replicas"] > 0, await exists(client, MAPS, "claim")
        items = (await client.resource(SECRETS).list()).items
        pod = next((each for each in items if each["metadata"]["name"] == "pod"), None)
        if desired:
            if pod is None:
                await client.resource(SECRETS).create(
                    secret("pod", finalizers=[FINALIZER], ownerReferences=owner_of(found))
                )
            if not has_claim:
                await client.resource(MAPS).create(config_map("claim"))
            return None
        if pod is not None and not is_ending(pod):
            await client.resource(SECRETS).delete("pod")
        elif has_claim and (pod is not None or repaired):
            await client.resource(MAPS).delete("claim")
        return None

    @scenario(operator(reconcile, SECRETS), crds=[CRD])
    async def to_zero(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        await cluster.settled()
        await cluster.apply(store(replicas=0))
        await cluster.settled()
        with suppress(NotFound):
            await cluster.admin().resource(SECRETS).patch("pod", MergePatch({"metadata": {"finalizers": None}}))

    return to_zero
