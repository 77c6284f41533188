"""Tests of the resizer: its decisions, and on a driver process."""

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.core.numbers.quantity import parse
from sampan.csi.sidecar.resizing.decision import Sizes, next_size
from sampan.resource import Object, meta
from tests.client.connected import connected
from tests.controllers.cluster import Working
from tests.csi.storage import bound, claim, requests_of, running_driver, storage, storage_class

CONTROLLER_ONLY = ("STAGE_UNSTAGE_VOLUME",)


@pytest.mark.parametrize(
    ("desired", "volume", "allocated", "status", "failed", "expected"),
    [
        ("3Gi", "1Gi", "", "", False, "3Gi"),
        ("3Gi", "1Gi", "2Gi", "ControllerResizeInProgress", False, "2Gi"),
        ("3Gi", "1Gi", "2Gi", "ControllerResizeInProgress", True, "3Gi"),
        ("2Gi", "1Gi", "9Gi", "ControllerResizeInfeasible", True, "2Gi"),
        ("3Gi", "2Gi", "2Gi", "NodeResizePending", False, None),
        ("3Gi", "1Gi", "2Gi", "NodeResizeInProgress", False, "2Gi"),
        ("3Gi", "3Gi", "3Gi", "NodeResizePending", False, None),
        ("2Gi", "3Gi", "3Gi", "NodeResizeInfeasible", False, "3Gi"),
        ("3Gi", "3Gi", "3Gi", "ControllerResizeInProgress", False, "3Gi"),
    ],
    ids=[
        "first",
        "uncertain goes on",
        "refused starts again",
        "smaller after infeasible",
        "node works",
        "volume is behind",
        "only the node is missing",
        "node cannot",
        "write was lost",
    ],
)
def test_the_next_size(
    desired: str, volume: str, allocated: str, status: str, failed: bool, expected: str | None
) -> None:
    sizes = Sizes(parse(desired), parse(volume), parse(allocated) if allocated else None, status)
    found = next_size(sizes, failed=failed, by_controller=True)
    assert (None if found is None else str(found)) == expected


async def grow(c: Working, size: str) -> None:
    """Request a size for the claim."""
    await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"resources": {"requests": {"storage": size}}}})


async def small_claim(c: Working) -> str:
    """Create a bound claim of 1 GiB, and return the name of its volume."""
    await storage_class(c)
    await claim(c)
    return str((await bound(c))["spec"]["volumeName"])


def conditions(claim: Object) -> list[str]:
    """Return the types of the conditions of a claim."""
    return [each["type"] for each in claim["status"].get("conditions") or ()]


async def test_a_volume_without_node_expansion_is_expanded_at_once() -> None:
    with running_driver(node_can=CONTROLLER_ONLY) as running:
        async with connected() as (client, _), storage(client, running) as c:
            name = await small_claim(c)
            await grow(c, "2Gi")
            found = await c.until(
                PERSISTENT_VOLUME_CLAIMS, "c", lambda p: p["status"]["capacity"] == {"storage": "2Gi"}
            )
            assert conditions(found) == []
            assert "allocatedResourceStatuses" not in found["status"]
            assert meta(found).annotations["volume.kubernetes.io/node-expansion-not-required"] == "true"
            volume = await c.get(PERSISTENT_VOLUMES, name)
            assert volume["spec"]["capacity"] == {"storage": "2Gi"}
            await c.events("VolumeResizeSuccessful")
        [request] = requests_of(running, "ControllerExpandVolume")
        assert request["capacity_range"] == {"required_bytes": str(2 << 30)}


async def test_an_expansion_waits_for_the_node() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            name = await small_claim(c)
            await grow(c, "2Gi")
            found = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda p: "FileSystemResizePending" in conditions(p))
            status = found["status"]
            assert status["allocatedResources"] == {"storage": "2Gi"}
            assert status["allocatedResourceStatuses"] == {"storage": "NodeResizePending"}
            assert status["capacity"] == {"storage": "1Gi"}
            volume = await c.get(PERSISTENT_VOLUMES, name)
            old = "volume.alpha.kubernetes.io/pre-resize-capacity"
            assert (volume["spec"]["capacity"], meta(volume).annotations[old]) == ({"storage": "2Gi"}, "1Gi")
            await c.events("FileSystemResizeRequired")
            done = {"capacity": {"storage": "2Gi"}, "conditions": None, "allocatedResourceStatuses": None}
            await c.patch_status(PERSISTENT_VOLUME_CLAIMS, "c", done)
            await c.until(PERSISTENT_VOLUMES, name, lambda v: old not in meta(v).annotations)
        assert len(running.calls("ControllerExpandVolume")) == 1


async def test_a_refused_expansion_is_in_the_status_and_is_repeated() -> None:
    with running_driver(node_can=CONTROLLER_ONLY) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await small_claim(c)
            running.fail(ControllerExpandVolume={"code": "INTERNAL", "message": "full"})
            await grow(c, "2Gi")
            found = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda p: "ControllerResizeError" in conditions(p))
            message = "failed to expand pvc with rpc error: code = Internal desc = full"
            assert message in [each.get("message") for each in found["status"]["conditions"]]
            await c.events("VolumeResizeFailed")
            running.fail()
            await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda p: p["status"]["capacity"] == {"storage": "2Gi"})


async def test_a_user_recovers_from_an_infeasible_size() -> None:
    with running_driver(node_can=CONTROLLER_ONLY) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await small_claim(c)
            running.fail(ControllerExpandVolume={"code": "OUT_OF_RANGE", "message": "too large"})
            await grow(c, "900Gi")
            infeasible = {"storage": "ControllerResizeInfeasible"}
            await c.until(
                PERSISTENT_VOLUME_CLAIMS, "c", lambda p: p["status"].get("allocatedResourceStatuses") == infeasible
            )
            running.fail()
            await grow(c, "2Gi")
            await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda p: p["status"]["capacity"] == {"storage": "2Gi"})
        assert requests_of(running, "ControllerExpandVolume")[-1]["capacity_range"] == {"required_bytes": str(2 << 30)}


async def test_a_driver_that_expands_only_on_nodes_is_not_called() -> None:
    with running_driver(controller=("CREATE_DELETE_VOLUME",)) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await small_claim(c)
            await grow(c, "2Gi")
            await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda p: "FileSystemResizePending" in conditions(p))
        assert not running.calls("ControllerExpandVolume")
