"""Reading back what was applied, and taking over from updates, against a whole server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.client import Client, Conflict, MergePatch, ResourceClient, applied_fields, upgrade_managed_fields
from sampan.resource import Object
from tests.client.connected import connected


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with connected() as (found, _):
        yield found


@pytest.fixture
async def deployments(client: Client) -> ResourceClient[Object]:
    return await client.resource_for("deployments")


def deployment(*containers: str, **spec: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "containers": [
                {"name": name, "image": "i", "ports": [{"containerPort": 80, "protocol": "TCP"}]} for name in containers
            ]
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"mine": "1"}, "finalizers": ["a.example.com/x"]},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


async def test_applied_fields_are_returned_as_they_were_sent(deployments: ResourceClient[Object]) -> None:
    wish = deployment("one", "two", replicas=2)
    found = await deployments.apply(wish, field_manager="me")
    assert found != wish
    assert applied_fields(found, "me") == wish


async def test_fields_of_another_manager_are_left_out(deployments: ResourceClient[Object]) -> None:
    wish = deployment("one")
    await deployments.apply(wish, field_manager="me")
    await deployments.apply(
        {**deployment("other"), "metadata": {"name": "web", "labels": {"theirs": "1"}}}, field_manager="they"
    )
    found = await deployments.patch("web", MergePatch({"spec": {"replicas": 5}}))
    assert len(found["spec"]["template"]["spec"]["containers"]) == 2
    assert applied_fields(found, "me") == wish
    assert applied_fields(found, "they")["metadata"]["labels"] == {"theirs": "1"}


async def test_the_status_is_read_back_by_itself(deployments: ResourceClient[Object]) -> None:
    await deployments.apply(deployment("one"), field_manager="me")
    wish = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }
    found = await deployments.apply(wish, field_manager="me", subresource="status")
    assert applied_fields(found, "me", subresource="status") == wish
    assert applied_fields(found, "me") == deployment("one")


async def test_a_client_that_has_applied_nothing_has_the_name(deployments: ResourceClient[Object]) -> None:
    found = await deployments.apply(deployment("one"), field_manager="me")
    assert applied_fields(found, "they") == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
    }


async def test_after_an_upgrade_an_apply_can_take_fields_away(client: Client) -> None:
    updater = client.with_defaults(field_manager="old-tool")
    config_maps = await updater.resource_for("configmaps")
    made = await config_maps.create(config_map(x="1", y="1"))
    patch = upgrade_managed_fields(made, ["old-tool"], "me")
    assert patch is not None
    upgraded = await config_maps.patch("a", patch)
    assert [(each["manager"], each["operation"]) for each in upgraded["metadata"]["managedFields"]] == [("me", "Apply")]
    assert (await config_maps.apply(config_map(x="1"), field_manager="me"))["data"] == {"x": "1"}


async def test_an_upgrade_unites_with_what_was_applied(client: Client) -> None:
    config_maps = await client.with_defaults(field_manager="old-tool").resource_for("configmaps")
    await config_maps.apply(config_map(x="1"), field_manager="me")
    updated = await config_maps.patch("a", MergePatch({"data": {"y": "1"}}))
    patch = upgrade_managed_fields(updated, ["old-tool", "unknown"], "me")
    assert patch is not None
    assert applied_fields(await config_maps.patch("a", patch), "me")["data"] == {"x": "1", "y": "1"}


async def test_an_upgrade_of_an_old_state_conflicts(client: Client) -> None:
    config_maps = await client.with_defaults(field_manager="old-tool").resource_for("configmaps")
    made = await config_maps.create(config_map(x="1"))
    await config_maps.patch("a", MergePatch({"data": {"x": "2"}}))
    patch = upgrade_managed_fields(made, ["old-tool"], "me")
    assert patch is not None
    with pytest.raises(Conflict):
        await config_maps.patch("a", patch)


async def test_with_nothing_to_upgrade_there_is_no_patch(client: Client) -> None:
    config_maps = await client.resource_for("configmaps")
    applied = await config_maps.apply(config_map(x="1"), field_manager="me")
    assert upgrade_managed_fields(applied, ["old-tool"], "me") is None


def test_items_by_value_and_by_place() -> None:
    obj = {
        "metadata": {
            "name": "a",
            "managedFields": [
                {
                    "manager": "me",
                    "operation": "Apply",
                    "fieldsV1": {"f:set": {'v:"b"': {}}, "f:list": {"i:1": {}}, "f:gone": {"f:x": {}}},
                }
            ],
        },
        "set": ["a", "b"],
        "list": [1, 2],
    }
    assert applied_fields(obj, "me") == {"metadata": {"name": "a"}, "set": ["b"], "list": [2]}


def config_map(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
