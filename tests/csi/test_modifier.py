"""Tests of changes of a claim's VolumeAttributesClass, with a driver process."""

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.component_base.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    SECRETS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from sampan.resource import Object, meta
from tests.client.connected import connected
from tests.controllers.cluster import Working
from tests.csi.storage import FAST, NAME, bound, claim, controllers, requests_of, running_driver, sidecars, storage
from tests.csi.storage import storage_class as create_class
from tests.e2e.csi.driver import Driver


async def attributes_class(c: Working, name: str, **parameters: str) -> None:
    """Create a VolumeAttributesClass of the driver."""
    described = {"metadata": {"name": name}, "driverName": NAME, "parameters": parameters or {"iops": name}}
    await c.create(VOLUME_ATTRIBUTES_CLASSES, described)


async def change(c: Working, name: str | None) -> None:
    """Change the class of the claim."""
    await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"volumeAttributesClassName": name}})


async def reached(c: Working, name: str) -> Object:
    """Wait until the volume of the claim has the attributes of a class."""

    def has(found: Object) -> bool:
        status = found["status"]
        return status.get("currentVolumeAttributesClassName") == name and "modifyVolumeStatus" not in status

    return await c.until(PERSISTENT_VOLUME_CLAIMS, "c", has)


async def modifying(c: Working, state: str, target: str = "") -> Object:
    """Wait for a state of the modification."""

    def is_so(found: Object) -> bool:
        status = found["status"].get("modifyVolumeStatus") or {}
        return (status.get("status"), status.get("targetVolumeAttributesClassName", "")) == (state, target)

    return await c.until(PERSISTENT_VOLUME_CLAIMS, "c", is_so)


def targets(running: Driver) -> list[str]:
    """Return the requested parameter of each call."""
    return [each["mutable_parameters"]["iops"] for each in requests_of(running, "ControllerModifyVolume")]


def conditions(found: Object) -> dict[str, Any]:
    """Return reason and message of each condition."""
    return {each["type"]: (each.get("reason", ""), each["message"]) for each in found["status"].get("conditions") or ()}


async def test_a_claim_begins_with_the_class_of_its_creation() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await attributes_class(c, "slow")
            await create_class(c)
            await claim(c, volumeAttributesClassName="slow")
            found = await bound(c)
            assert found["status"]["currentVolumeAttributesClassName"] == "slow"
            [request] = requests_of(running, "CreateVolume")
            assert request["mutable_parameters"] == {"iops": "slow"}
            assert targets(running) == []


async def test_a_changed_class_modifies_the_volume() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await attributes_class(c, "quick", iops="9000")
            await create_class(c)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            await change(c, "quick")
            found = await reached(c, "quick")
            assert conditions(found) == {}
            volume = await c.get(PERSISTENT_VOLUMES, name)
            assert volume["spec"]["volumeAttributesClassName"] == "quick"
            [event] = await c.events("VolumeModifySuccessful")
            assert event["message"] == "external resizer modified volume c with vac quick successfully"
            [request] = requests_of(running, "ControllerModifyVolume")
            assert request["volume_id"] == volume["spec"]["csi"]["volumeHandle"]
            assert request["mutable_parameters"] == {"iops": "9000"}


async def test_a_class_may_be_created_later() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await create_class(c)
            await claim(c)
            await bound(c)
            await change(c, "quick")
            await modifying(c, "Pending")
            [event] = await c.events("VolumeModifyFailed")
            assert event["message"] == 'VAC "quick" does not exist.'
            await attributes_class(c, "quick")
            await reached(c, "quick")


async def test_a_refused_class_is_infeasible_and_another_one_is_tried_at_once() -> None:
    with running_driver() as running:
        slow_retries = replace(FAST, retry_interval_max_s=3600.0)
        async with connected() as (client, _), storage(client, running, slow_retries) as c:
            for name in ("wrong", "quick"):
                await attributes_class(c, name)
            await create_class(c)
            await claim(c)
            await bound(c)
            running.fail(ControllerModifyVolume={"code": "INVALID_ARGUMENT", "message": "no such tier"})
            await change(c, "wrong")
            found = await modifying(c, "Infeasible", "wrong")
            assert conditions(found) == {
                "ModifyingVolume": ("", 'Modifying volume to "wrong" failed. Waiting for retry.'),
                "ModifyVolumeError": ("InvalidArgument", "no such tier"),
            }
            running.fail()
            await change(c, "quick")
            await reached(c, "quick")
            assert targets(running) == ["wrong", "quick"]


async def test_a_modification_with_an_unknown_result_is_completed_before_another_one_starts() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            for name in ("first", "second"):
                await attributes_class(c, name)
            await create_class(c)
            await claim(c)
            await bound(c)
            running.fail(ControllerModifyVolume={"code": "DEADLINE_EXCEEDED", "message": "slow"})
            await change(c, "first")
            found = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda one: "ModifyVolumeError" in conditions(one))
            assert conditions(found)["ModifyingVolume"][1] == 'Modifying volume to "first" is still in progress.'
            await change(c, "second")
            await modifying(c, "InProgress", "first")
            running.fail()
            await reached(c, "second")
            assert targets(running)[-2:] == ["first", "second"]
            assert set(targets(running)[:-1]) == {"first"}


async def test_a_failed_modification_may_have_another_target() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            for name in ("first", "second"):
                await attributes_class(c, name)
            await create_class(c)
            await claim(c)
            await bound(c)
            running.fail(ControllerModifyVolume={"code": "INTERNAL", "message": "broken"})
            await change(c, "first")
            await c.events("VolumeModifyFailed")
            await change(c, "second")
            await modifying(c, "InProgress", "second")
            running.fail()
            await reached(c, "second")


async def test_a_restart_completes_the_modification() -> None:
    with running_driver() as running:
        async with connected() as (client, _), controllers(client) as c:
            for name in ("first", "second"):
                await attributes_class(c, name)
            await create_class(c)
            await claim(c)
            async with sidecars(client, running):
                await bound(c)
                running.fail(ControllerModifyVolume={"code": "UNAVAILABLE", "message": "lost", "after": True})
                await change(c, "first")
                await c.events("VolumeModifyFailed")
            await change(c, "second")
            calls = len(targets(running))
            running.fail()
            async with sidecars(client, running):
                await reached(c, "second")
            assert targets(running)[calls:] == ["first", "second"]


async def test_an_infeasible_class_can_be_withdrawn() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await attributes_class(c, "wrong")
            await create_class(c)
            await claim(c)
            await bound(c)
            running.fail(ControllerModifyVolume={"code": "INVALID_ARGUMENT", "message": "no"})
            await change(c, "wrong")
            await modifying(c, "Infeasible", "wrong")
            await change(c, None)
            await c.events("VolumeModifyCanceled")
            await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda one: "ModifyingVolume" not in conditions(one))


async def test_a_modification_gets_its_secret_and_the_names() -> None:
    prefix = "csi.storage.k8s.io/controller-modify-secret"
    parameters = {f"{prefix}-name": "key", f"{prefix}-namespace": "default"}
    with running_driver() as running:
        named = replace(FAST, extra_modify_metadata=True)
        async with connected() as (client, _), storage(client, running, named) as c:
            await c.create(SECRETS, {"metadata": {"name": "key"}, "stringData": {"token": "t"}})
            await attributes_class(c, "quick")
            await create_class(c, parameters=parameters)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            await change(c, "quick")
            await reached(c, "quick")
            [request] = requests_of(running, "ControllerModifyVolume")
            assert request["secrets"] == {"token": "t"}
            metadata = {"pvc/name": "c", "pvc/namespace": "default", "pv/name": name}
            expected = {f"csi.storage.k8s.io/{key}": value for key, value in metadata.items()}
            assert request["mutable_parameters"] == {"iops": "quick", **expected}


async def test_volumes_of_a_driver_without_the_capability_stay() -> None:
    with running_driver(controller=("CREATE_DELETE_VOLUME",)) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await attributes_class(c, "quick")
            await create_class(c)
            await claim(c)
            await bound(c)
            await change(c, "quick")
            await claim(c, "other")
            await bound(c, "other")
            found = await c.get(PERSISTENT_VOLUME_CLAIMS, "c")
            assert "modifyVolumeStatus" not in found["status"]
            assert meta(found).name == "c"
