"""Tests of shops. Each test has a separate API server, in virtual time, with the loops from Deployments to Pods."""

from typing import Any

import pytest
from sampan.resource import ObjectMeta
from sampan.testing import Cluster, field, has_condition, is_gone

from shops.shop.objects import SETTINGS_HASH
from shops.shop.reconcile import set_up
from shops.shop.v1 import Shop, ShopSpec

pytestmark = pytest.mark.cluster(loops="chain")


def shop(**fields: Any) -> Shop:
    """Return the Shop `web`, with all of its parts unless `fields` has others."""
    given = {"image": "shop:1", "replicas": 2, "host": "shop.example.com", "settings": {"GREETING": "hello"}, **fields}
    return Shop(metadata=ObjectMeta(name="web"), spec=ShopSpec(**given))


async def start(cluster: Cluster, **fields: Any) -> None:
    """Run the operator, and wait until the Shop is ready."""
    await cluster.crds(Shop)
    cluster.run(set_up)
    await cluster.apply(shop(**fields))
    await cluster.eventually("shops/web", has_condition("Ready"))
    await cluster.settled()


async def test_a_shop_becomes_a_deployment_with_service_settings_and_address(cluster: Cluster) -> None:
    await start(cluster)
    assert (await cluster.get("configmaps/web"))["data"] == {"GREETING": "hello"}
    assert (await cluster.get("ingresses/web"))["spec"]["rules"][0]["host"] == "shop.example.com"
    assert (await cluster.get("services/web"))["spec"]["ports"][0]["targetPort"] == 8080
    assert (await cluster.get("deployments/web"))["status"]["availableReplicas"] == 2


async def test_a_change_of_settings_restarts_exactly_once(cluster: Cluster) -> None:
    await start(cluster)
    before = {each["metadata"]["name"] for each in await cluster.list("pods")}
    await cluster.apply(shop(settings={"GREETING": "good evening"}))
    await cluster.eventually("shops/web", has_condition("Ready", "False"))
    await cluster.eventually("shops/web", has_condition("Ready"))
    await cluster.settled()
    assert before.isdisjoint(each["metadata"]["name"] for each in await cluster.list("pods"))
    assert len(await cluster.list("replicasets")) == 2
    assert (await cluster.get("deployments/web"))["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"


async def test_a_change_of_the_number_of_pods_restarts_none(cluster: Cluster) -> None:
    await start(cluster)
    before = {each["metadata"]["name"] for each in await cluster.list("pods")}
    await cluster.apply(shop(replicas=3))
    await cluster.settled()
    after = {each["metadata"]["name"] for each in await cluster.list("pods")}
    assert (before < after, len(after)) == (True, 3)


async def test_what_a_shop_no_longer_has_is_pruned(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(shop_without("host", "settings"))
    await cluster.eventually("ingresses/web", is_gone())
    await cluster.eventually("configmaps/web", is_gone())
    await cluster.eventually("shops/web", has_condition("Ready"))


async def test_a_deletion_leaves_nothing(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.delete("shops/web")
    await cluster.settled()
    for kind in ("deployments", "replicasets", "pods", "services", "configmaps", "ingresses"):
        names = [each["metadata"]["name"] for each in await cluster.list(kind)]
        assert [name for name in names if name.startswith("web")] == [], kind


async def test_drift_by_hand_is_repaired(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.patch("configmaps/web", {"data": {"GREETING": "go away"}})
    await cluster.patch("deployments/web", {"spec": {"replicas": 7}})
    await cluster.delete("services/web")
    await cluster.eventually("configmaps/web", field(".data.GREETING") == "hello")
    await cluster.eventually("deployments/web", field(".spec.replicas") == 2)
    await cluster.eventually("services/web", field(".spec.ports[0].port") == 80)


async def test_an_object_of_another_owner_is_never_touched(cluster: Cluster) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"GREETING": "mine"}}
    await cluster.create(other)
    before = await cluster.get("configmaps/web")
    await cluster.crds(Shop)
    cluster.run(set_up)
    await cluster.apply(shop())
    await cluster.eventually("shops/web", has_condition("Degraded"))
    await cluster.advance(minutes=5)
    await cluster.delete("shops/web")
    await cluster.settled()
    assert await cluster.get("configmaps/web") == before


async def test_a_shop_goes_on_when_the_name_is_free(cluster: Cluster) -> None:
    await cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}})
    await cluster.crds(Shop)
    cluster.run(set_up)
    await cluster.apply(shop())
    await cluster.eventually("shops/web", has_condition("Degraded"))
    await cluster.delete("configmaps/web")
    await cluster.advance(minutes=1)
    await cluster.eventually("shops/web", has_condition("Ready"))


async def test_an_image_that_cannot_be_pulled_makes_a_shop_degraded(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(shop(image="registry.invalid/shop:2"))
    await cluster.eventually("shops/web", has_condition("Progressing"))
    await cluster.advance(minutes=11)
    await cluster.eventually("shops/web", has_condition("Degraded"))
    assert (await cluster.get("deployments/web"))["status"]["availableReplicas"] == 2


async def test_settings_that_kubernetes_refuses_are_named_in_the_status(cluster: Cluster) -> None:
    await cluster.crds(Shop)
    cluster.run(set_up)
    await cluster.apply(shop(settings={"no blanks": "here"}))
    await cluster.eventually("shops/web", has_condition("Degraded", reason="Invalid"))


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.assert_idempotent()


async def test_the_hash_depends_on_the_settings_alone(cluster: Cluster) -> None:
    await start(cluster)
    path = ("spec", "template", "metadata", "annotations", SETTINGS_HASH)
    before = at(await cluster.get("deployments/web"), *path)
    await cluster.apply(shop(replicas=1, host="other.example.com"))
    await cluster.settled()
    assert at(await cluster.get("deployments/web"), *path) == before


def at(obj: Any, *path: str) -> Any:
    """Return the value at a path."""
    for name in path:
        obj = obj[name]
    return obj


def shop_without(*fields: str) -> dict[str, Any]:
    """Return the Shop `web` without some fields."""
    spec = {"image": "shop:1", "replicas": 2, "host": "shop.example.com", "settings": {"GREETING": "hello"}}
    left = {name: value for name, value in spec.items() if name not in fields}
    return {"apiVersion": "shops.example.com/v1", "kind": "Shop", "metadata": {"name": "web"}, "spec": left}
