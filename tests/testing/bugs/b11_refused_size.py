"""B11: fewer replicas are refused by the operator, so the states it has seen decide the end (cluster-operator #758).

A ConfigMap stands for the StatefulSet.
"""

from contextlib import suppress
from copy import deepcopy

from sampan.client import Client, Invalid, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a rule of the CustomResourceDefinition."""
    crd = deepcopy(CRD)
    if repaired:
        spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        rule = {"rule": "self >= oldSelf", "message": "replicas cannot be reduced"}
        spec["properties"] = {"replicas": {"type": "integer", "x-kubernetes-validations": [rule]}}

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        sets, size = client.resource(MAPS), found["spec"]["replicas"]
        items = (await sets.list()).items
        present = next((each for each in items if each["metadata"]["name"] == "set"), None)
        if present is None:
            await sets.create(config_map("set", {"replicas": str(size)}))
        elif int(present["data"]["replicas"]) < size:
            await sets.patch("set", MergePatch({"data": {"replicas": str(size)}}))
        return None

    @scenario(operator(reconcile), crds=[crd])
    async def up_and_down(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        for replicas in (3, 2):
            await cluster.settled()
            with suppress(Invalid):
                await cluster.apply(store(replicas=replicas))

    return up_and_down
