"""`ensure_controlled`: objects whose names follow from their owner."""

from typing import Any

import pytest

from sampan.client.errors import AlreadyExists, TransportError
from sampan.client.transport import HttpResponse
from sampan.core.gvk import GroupVersionResource
from sampan.operator import RetryLater, controller_of, ensure_controlled
from sampan.resource import Object, ResourceInfo
from sampan.testing import Cluster, SentRequest
from sampan.testing.requests import Proceed

MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}}


def lid(colour: str = "red") -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lid"}, "data": {"colour": colour}}


async def box(cluster: Cluster) -> Object:
    """Create the owner."""
    [made] = await cluster.create(BOX)
    return dict(made)


def maps(cluster: Cluster) -> Any:
    return cluster.admin().resource(MAPS, namespace="")


async def test_the_object_is_created_for_its_owner_in_the_namespace_of_the_owner(cluster: Cluster) -> None:
    owner = await box(cluster)
    found = await ensure_controlled(maps(cluster), owner, lid())
    reference = controller_of(found)
    assert reference is not None
    assert (reference.uid, found["metadata"]["namespace"]) == (owner["metadata"]["uid"], "default")


async def test_a_second_call_returns_the_object_unchanged(cluster: Cluster) -> None:
    owner = await box(cluster)
    first = await ensure_controlled(maps(cluster), owner, lid())
    assert await ensure_controlled(maps(cluster), owner, lid("blue")) == first


async def test_with_a_field_manager_the_object_is_changed_and_loses_fields(cluster: Cluster) -> None:
    owner = await box(cluster)
    await ensure_controlled(maps(cluster), owner, lid() | {"binaryData": {"a": "AA=="}}, field_manager="boxes")
    found = await ensure_controlled(maps(cluster), owner, lid("blue"), field_manager="boxes")
    assert (found["data"], "binaryData" in found) == ({"colour": "blue"}, False)


async def test_an_object_of_another_owner_is_left_alone(cluster: Cluster) -> None:
    owner = await box(cluster)
    [other] = await cluster.create(lid())
    for manager in ("", "boxes"):
        with pytest.raises(RetryLater, match="the ConfigMap lid belongs to another object"):
            await ensure_controlled(maps(cluster), owner, lid("blue"), field_manager=manager)
    assert await cluster.get("cm/lid") == other


async def test_an_object_that_is_being_deleted_is_waited_for(cluster: Cluster) -> None:
    owner = await box(cluster)
    await ensure_controlled(maps(cluster), owner, lid())
    await cluster.patch("cm/lid", {"metadata": {"finalizers": ["example.com/slow"]}})
    await cluster.delete("cm/lid")
    with pytest.raises(RetryLater, match="being deleted"):
        await ensure_controlled(maps(cluster), owner, lid())
    await cluster.patch("cm/lid", {"metadata": {"finalizers": None}})


async def test_an_object_that_another_request_created_meanwhile_is_read_again_later(cluster: Cluster) -> None:
    async def overtake(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        if sent.info.verb == "create":
            await proceed()
        return await proceed()

    owner = await box(cluster)
    cluster.interceptors.append(overtake)
    with pytest.raises(RetryLater, match="exists already") as raised:
        await ensure_controlled(maps(cluster), owner, lid())
    assert isinstance(raised.value.__cause__, AlreadyExists)


async def test_after_a_lost_response_the_same_object_is_found(cluster: Cluster) -> None:
    async def lose(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        response = await proceed()
        if sent.info.verb == "create":
            raise TransportError("reset", sent=True)
        return response

    owner = await box(cluster)
    cluster.interceptors.append(lose)
    with pytest.raises(TransportError):
        await ensure_controlled(maps(cluster), owner, lid())
    found = await ensure_controlled(maps(cluster), owner, lid())
    assert found == await cluster.get("cm/lid")
