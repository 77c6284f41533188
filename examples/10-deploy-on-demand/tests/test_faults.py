"""No single fault changes the end of a Shop's life: a crash between any two writes, a lost response, an old cache."""

import os

import pytest
from sampan.testing import Cluster, has_condition
from sampan.testing.explore import Scenario, State, explore, scenario

from shops.shop.reconcile import set_up
from shops.shop.v1 import Shop

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))
Spec = dict[str, object]
FULL: Spec = {"image": "shop:1", "host": "shop.example.com", "settings": {"GREETING": "hello"}}
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"GREETING": "mine"}}


def shop(**spec: object) -> dict[str, object]:
    """Return the Shop `web`."""
    return {"apiVersion": "shops.example.com/v1", "kind": "Shop", "metadata": {"name": "web"}, "spec": spec}


def only_own_objects_change(state: State) -> str | None:
    """The operator writes and deletes only what has its label."""
    before = state.before or {}
    if before.get("data") == OTHER["data"] and state.after != before:
        return "the ConfigMap of another owner was changed"
    return None


@scenario(set_up, crds=[Shop], drift=True)
async def life(cluster: Cluster) -> None:
    """Create, change and delete a Shop."""
    await cluster.apply(shop(**FULL))
    await cluster.settled()
    await cluster.apply(shop(**FULL, replicas=3))
    await cluster.settled()
    await cluster.delete("shops/web")


@scenario(set_up, crds=[Shop], drift=True)
async def changed(cluster: Cluster) -> None:
    """Turn settings and address off and on again."""
    await cluster.apply(shop(**FULL))
    await cluster.settled()
    await cluster.apply(shop(image="shop:1"))
    await cluster.settled()
    await cluster.apply(shop(**{**FULL, "settings": {"GREETING": "good evening"}}))


@scenario(set_up, crds=[Shop], checks=[only_own_objects_change])
async def beside_another(cluster: Cluster) -> None:
    """An object of another owner has the name."""
    await cluster.create(OTHER)
    await cluster.apply(shop(**FULL))
    await cluster.settled()
    await cluster.delete("shops/web")


@scenario(set_up, crds=[Shop], loops="chain")
async def rolled_out(cluster: Cluster) -> None:
    """Change the settings of Pods that run."""
    await cluster.apply(shop(**FULL))
    await cluster.eventually("shops/web", has_condition("Ready"))
    await cluster.apply(shop(**{**FULL, "settings": {"GREETING": "good evening"}}))


@pytest.mark.parametrize("story", [life, changed, beside_another, rolled_out], ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
