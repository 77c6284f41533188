"""The test driver itself, over its socket."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.csi.client import CsiClient, RegistrationClient
from sampan.csi.errors import CsiError
from sampan.csi.messages import message
from tests.e2e.csi.driver import Driver, driver
from tests.e2e.csi.settings import Settings


@pytest.fixture
def running() -> Iterator[Driver]:
    # Pytest's directories are too long for the path of a socket.
    with tempfile.TemporaryDirectory(prefix="csi-") as directory:
        root = Path(directory)
        with driver(Settings(root / "d", root / "csi.sock", root / "plugins_registry")) as found:
            yield found


async def test_volume_is_created_once_for_a_name(running: Driver) -> None:
    mode = message("VolumeCapability")(mount=message("VolumeCapability.MountVolume")())
    async with CsiClient(str(running.settings.socket)) as client:
        first = await client.call("CreateVolume", name="pvc-1", volume_capabilities=[mode])
        again = await client.call("CreateVolume", name="pvc-1", volume_capabilities=[mode])
        assert first.volume.volume_id == again.volume.volume_id
        listed = await client.call("ListVolumes")
        assert [each.volume.volume_id for each in listed.entries] == [first.volume.volume_id]
        await client.call("DeleteVolume", volume_id=first.volume.volume_id)
        await client.call("DeleteVolume", volume_id=first.volume.volume_id)
        assert not (await client.call("ListVolumes")).entries


async def test_faults_and_calls_are_recorded(running: Driver) -> None:
    running.fail(NodeGetInfo={"code": "INTERNAL", "message": "no disk", "times": 1})
    async with CsiClient(str(running.settings.socket)) as client:
        with pytest.raises(CsiError, match="code = Internal desc = no disk"):
            await client.call("NodeGetInfo")
        assert (await client.call("NodeGetInfo")).node_id == "node-1"
    assert [each["code"] for each in running.calls("NodeGetInfo")] == ["INTERNAL", "OK"]


async def test_driver_registers(running: Driver) -> None:
    async with RegistrationClient(str(running.settings.registration_socket)) as client:
        info = await client.info()
        assert (info.type, info.name) == ("CSIPlugin", "test.csi.sampan.dev")
        await client.notify(True)
    assert running.calls("NotifyRegistrationStatus")[0]["request"] == {"plugin_registered": True}
