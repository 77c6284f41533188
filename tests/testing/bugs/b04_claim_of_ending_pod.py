"""B4: the claim of an ending Pod is deleted, also if the next Pod of that name uses it (cassandra-operator #407).

Secrets stand for Pods, ConfigMaps for their claims.
"""

from sampan.client import Client, Conflict, DeleteOptions, MergePatch, NotFound
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
    is_ending,
    operator,
    owner_of,
    secret,
    store,
)


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the claim records the uid of its Pod.

    The repair also reads the size live, because an old one would end the Pod.
    """

    async def end(client: Client, pod: Object) -> None:
        claim = await _claim(client)
        if claim is not None and (not repaired or claim["data"]["pod"] == pod["metadata"]["uid"]):
            await client.resource(MAPS).delete("claim", DeleteOptions(uid=claim["metadata"]["uid"]))
        version = pod["metadata"]["resourceVersion"]
        patch = MergePatch({"metadata": {"finalizers": None, "resourceVersion": version}})
        try:
            await client.resource(SECRETS).patch("pod", patch)
        except (Conflict, NotFound):
            return

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        if repaired:
            found = await client.direct.resource(STORES).get("s")  # type: ignore[attr-defined]
        items = (await client.resource(SECRETS).list()).items
        pod = next((each for each in items if each["metadata"]["name"] == "pod"), None)
        if pod is not None and is_ending(pod):
            await end(client, pod)
        elif found["spec"]["replicas"] == 0:
            if pod is not None:
                await client.resource(SECRETS).delete("pod", DeleteOptions(uid=pod["metadata"]["uid"]))
        else:
            if pod is None:
                new = secret("pod", finalizers=[FINALIZER], ownerReferences=owner_of(found))
                pod = await client.resource(SECRETS).create(new)
            if await _claim(client) is None:
                await client.resource(MAPS).create(config_map("claim", {"pod": pod["metadata"]["uid"]}))
        return None

    @scenario(operator(reconcile, SECRETS), crds=[CRD])
    async def down_and_up(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        for replicas in (0, 1):
            await cluster.settled()
            await cluster.apply(store(replicas=replicas))

    return down_and_up


async def _claim(client: Client) -> Object | None:
    items = (await client.direct.resource(MAPS).list()).items  # type: ignore[attr-defined]
    return next((each for each in items if each["metadata"]["name"] == "claim"), None)
