"""Tests of all built-in loops on one manager."""

from sampan.component_base.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from sampan.controllers.catalogue import CONTROLLERS
from tests.controllers.cluster import cluster

LABELS = {"app": "a"}


def test_controllers_are_in_alphabetical_order() -> None:
    assert list(CONTROLLERS) == sorted(CONTROLLERS)


async def test_all_loops_work_on_one_manager() -> None:
    async with cluster(*CONTROLLERS.values(), root_ca="CA") as c:
        await c.create(NODES, {"metadata": {"name": "n"}})
        await c.until(SERVICE_ACCOUNTS, "default", lambda _: True)
        await c.until(CONFIG_MAPS, "kube-root-ca.crt", lambda _: True)
        selector = {"matchLabels": LABELS}
        pod = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}}
        await c.create(RESOURCE_QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "9"}}})
        await c.create(
            POD_DISRUPTION_BUDGETS, {"metadata": {"name": "b"}, "spec": {"selector": selector, "maxUnavailable": 1}}
        )
        await c.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"selector": LABELS, "ports": [{"port": 80}]}})
        await c.create(
            DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": selector, "template": pod}}
        )
        for number, made in enumerate(await c.pods(2)):
            await c.patch_status(
                PODS, made["metadata"]["name"], {"podIP": f"10.1.0.{number}", "podIPs": [{"ip": f"10.1.0.{number}"}]}
            )
            await c.make_ready(made)
        await c.until(POD_DISRUPTION_BUDGETS, "b", lambda b: b["status"].get("disruptionsAllowed") == 1)
        await c.until(RESOURCE_QUOTAS, "q", lambda q: q["status"].get("used") == {"pods": "2"})
        await c.until(ENDPOINTS, "s", lambda e: e.get("subsets") and len(e["subsets"][0].get("addresses", ())) == 2)
        await c.until_all(ENDPOINT_SLICES, lambda found: [len(s.get("endpoints") or ()) for s in found] == [2])
