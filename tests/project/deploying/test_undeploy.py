"""The engine of `sampan undeploy`: custom resources first, then all that the deployment made, and nothing else."""

import asyncio

import pytest

from sampan.client import Client, MergePatch, NotFound
from sampan.project.deploying.removal import UndeployOptions, find_removals
from sampan.project.errors import ProjectError
from sampan.resource import Object
from sampan.testing import Cluster
from tests.project.deploying.objects import (
    FINALIZER,
    GROUP,
    INVENTORY,
    boat,
    config_map,
    deploy,
    get,
    operator,
    planned,
    removed,
    webhooks,
)

pytestmark = pytest.mark.cluster(loops="chain")


async def is_absent(client: Client, kind: str, name: str, namespace: str = "") -> bool:
    try:
        await get(client, kind, name, namespace)
    except NotFound:
        return True
    return False


async def let_go(client: Client, name: str) -> None:
    """Do as an operator does: wait for the deletion of a boat, and remove the finalizer."""
    boats = await client.resource_for("boats", namespace="default")
    while not (await boats.get(name))["metadata"].get("deletionTimestamp"):  # noqa: ASYNC110  (virtual time)
        await asyncio.sleep(1)
    await boats.patch(name, MergePatch({"metadata": {"finalizers": []}}))


async def with_boats(client: Client, *boats: Object, more: tuple[Object, ...] = ()) -> None:
    """Deploy, and create custom resources."""
    await deploy(client, operator(more=more))
    client.mapper.invalidate()
    for each in boats:
        await (await client.resource_for("boats", namespace="default")).create(each)


async def test_everything_that_was_deployed_is_removed_and_a_second_run_finds_nothing(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client, boat("one"), boat("two"))
    lines = await removed(client)
    assert lines[0] == "draining 2 custom resources; the operator cleans up"
    assert lines[1:] == [
        "removed  ValidatingWebhookConfiguration boats",
        "removed  CustomResourceDefinition boats.boats.example.com",
        "removed  Deployment boats in harbour",
        "removed  ClusterRole boats",
        "removed  ClusterRoleBinding boats",
        "removed  ServiceAccount boats in harbour",
        "removed  Namespace harbour",
    ]
    assert await find_removals(client, INVENTORY, UndeployOptions(GROUP, 30)) is None
    assert await is_absent(client, "namespace", "harbour")


async def test_custom_resources_are_counted_before_anything_is_removed(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client, boat("one"), boat("two"))
    found = await find_removals(client, INVENTORY, UndeployOptions(GROUP, 30))
    assert found is not None
    assert found.counts == {"boats.boats.example.com": 2}
    assert "remove   CustomResourceDefinition boats.boats.example.com and its 2 objects\n" in found.text()


async def test_the_operator_runs_until_its_finalizers_are_gone(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client, boat("one", FINALIZER))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(let_go(client, "one"))
        lines = await removed(client)
    assert "removed  Deployment boats in harbour" in lines
    deleted = [each for each in cluster.requests if each.verb == "delete" and each.actor == "test"]
    assert next(each.resource for each in deleted) == "boats", "the first deletion is that of the custom resource"


async def test_objects_that_remain_are_shown_with_reasons_and_nothing_else_is_removed(cluster: Cluster) -> None:
    client, lines = cluster.admin(), list[str]()
    await with_boats(client, boat("one", FINALIZER))
    with pytest.raises(ProjectError, match="1 custom resources are still there after 30 s"):
        await removed(client, lines=lines)
    assert lines[-1] == f"remains  Boat one in default: waits for {FINALIZER}"
    for kind, name, namespace in (("deployment", "boats", "harbour"), ("clusterrole", "boats", "")):
        await get(client, kind, name, namespace)
    assert (await planned(client, operator())).is_empty


async def test_orphaned_resources_lose_only_the_finalizers_of_the_operator(cluster: Cluster) -> None:
    client, lines = cluster.admin(), list[str]()
    await with_boats(client, boat("one", FINALIZER), boat("two", FINALIZER, "other.test/keep"))
    with pytest.raises(ProjectError, match="1 custom resources"):
        await removed(client, orphan_resources=True, lines=lines)
    assert "released Boat one in default" in lines
    two = await (await client.resource_for("boats", namespace="default")).get("two")
    assert two["metadata"]["finalizers"] == ["other.test/keep"]


async def test_webhooks_do_not_refuse_the_release_of_orphaned_resources(cluster: Cluster) -> None:
    client, hook = cluster.admin(), webhooks()
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["boats"]}
    hook["webhooks"][0]["rules"] = [rule]
    await deploy(client, [*(each for each in operator() if each["kind"] != hook["kind"]), hook])
    client.mapper.invalidate()
    await (await client.resource_for("boats", namespace="default")).create(boat("one", FINALIZER))
    assert "released Boat one in default" in await removed(client, orphan_resources=True)


async def test_kept_resources_are_refused_while_they_carry_the_finalizer(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client, boat("one", FINALIZER))
    with pytest.raises(ProjectError, match="could never be deleted without it: Boat one in default"):
        await removed(client, keep_resources=True)
    await get(client, "deployment", "boats", "harbour")
    await removed(client, keep_resources=True, orphan_resources=True)
    one = await (await client.resource_for("boats", namespace="default")).get("one")
    assert not one["metadata"].get("finalizers")
    assert await is_absent(client, "deployment", "boats", "harbour")


async def test_a_finalizer_on_an_object_of_another_kind_is_found_by_the_operators_role(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client)
    marked = config_map("marked", "default")
    marked["metadata"]["finalizers"] = [FINALIZER]
    await cluster.create(marked)
    with pytest.raises(ProjectError, match="could never be deleted without it: ConfigMap marked in default"):
        await removed(client)
    await get(client, "deployment", "boats", "harbour")
    assert "released ConfigMap marked in default" in await removed(client, orphan_resources=True)


async def test_a_namespace_with_foreign_objects_stays_with_them(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client)
    await cluster.create(config_map("precious"))
    found = await find_removals(client, INVENTORY, UndeployOptions(GROUP, 30))
    assert found is not None
    assert "keep     Namespace harbour: it has objects of others, such as ConfigMap precious" in found.text()
    await removed(client)
    await get(client, "configmap", "precious", "harbour")
    assert await is_absent(client, "deployment", "boats", "harbour")
    assert await is_absent(client, "configmap", INVENTORY.parent, "harbour")


async def test_what_the_operator_made_for_itself_is_removed_too(cluster: Cluster) -> None:
    client = cluster.admin()
    place = {"name": "boats-webhook", "namespace": "harbour"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": place, "spec": {"ports": [{"port": 443}]}}
    await with_boats(client, more=(service,))
    await cluster.create(config_map("precious"))  # so that the namespace stays
    made = webhooks()
    made["metadata"] = {"name": "made-by-the-operator"}
    made["webhooks"][0]["clientConfig"] = {"service": place}
    as_operator = client.with_defaults(field_manager="boats")
    await (await as_operator.resource_for(made)).create(made)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "certificate", "namespace": "harbour"}}
    await (await as_operator.resource_for(secret, namespace="harbour")).create(secret)
    lines = await removed(client)
    assert "removed  ValidatingWebhookConfiguration made-by-the-operator" in lines
    assert "removed  Secret certificate in harbour" in lines


async def test_an_interrupted_removal_is_continued(cluster: Cluster) -> None:
    client = cluster.admin()
    await with_boats(client)
    await (await client.resource_for("deployments", namespace="harbour")).delete("boats")
    await (await client.resource_for("configmaps", namespace="harbour")).delete(INVENTORY.parent)
    assert (await removed(client))[-1] == "removed  Namespace harbour"
