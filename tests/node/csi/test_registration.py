"""Registration of drivers on a node."""

import json
import os
import signal

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.component_base.resources import CSI_NODES, NODES
from sampan.node.csi.registration import check_versions
from tests.node.csi.running import DRIVER, cluster, until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="drivers mount as root")


async def test_driver_is_in_the_csi_node_and_on_the_node() -> None:
    async with cluster(topology={"topology.test/zone": "a"}, max_volumes=7) as found:
        node = await found.work.until(CSI_NODES, "node", lambda node: node["spec"].get("drivers"))
        assert node["spec"]["drivers"] == [
            {
                "name": DRIVER,
                "nodeID": "node-1",
                "topologyKeys": ["topology.test/zone"],
                "allocatable": {"count": 7},
            }
        ]
        [owner] = node["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("Node", "node")
        metadata = (await found.node_object())["metadata"]
        assert json.loads(metadata["annotations"]["csi.volume.kubernetes.io/nodeid"]) == {DRIVER: "node-1"}
        assert metadata["labels"]["topology.test/zone"] == "a"
        await found.registered()
        assert found.driver.calls("NotifyRegistrationStatus")[0]["request"] == {"plugin_registered": True}


async def test_driver_whose_socket_is_gone_is_unregistered() -> None:
    async with cluster() as found:
        await found.work.until(CSI_NODES, "node", lambda node: node["spec"].get("drivers"))
        found.driver.stop()
        await found.work.until(CSI_NODES, "node", lambda node: not node["spec"].get("drivers"))
        annotation = "csi.volume.kubernetes.io/nodeid"
        await found.work.until(NODES, "node", lambda node: annotation not in node["metadata"].get("annotations", {}))


async def test_restarted_driver_is_registered_again() -> None:
    async with cluster() as found:
        await found.registered()
        found.driver.stop(signal.SIGKILL)
        found.driver.start()
        await until(lambda: len(found.driver.calls("NotifyRegistrationStatus")) == 2, "the second registration")
        await found.work.until(CSI_NODES, "node", lambda node: len(node["spec"].get("drivers") or ()) == 1)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"versions": ("0.3.0",)}, "none of the CSI versions reported by this driver are supported"),
        ({"type": "Teapot"}, "no handler registered for plugin type: Teapot"),
        ({"topology": {"kubernetes.io/os": "plan9"}}, "detected topology value collision"),
    ],
    ids=["version", "type", "topology"],
)
async def test_wrong_driver_gets_the_reason(settings: dict[str, object], text: str) -> None:
    async with cluster(**settings) as found:
        await found.registered()
        request = found.driver.calls("NotifyRegistrationStatus")[0]["request"]
        assert "plugin_registered" not in request
        assert text in request["error"]


async def test_failing_driver_is_registered_once_it_works() -> None:
    async with cluster() as found:
        found.driver.stop()
        found.driver.fail(NodeGetInfo={"code": "UNAVAILABLE", "message": "starting", "times": 1})
        (found.root / "driver/calls.jsonl").unlink(missing_ok=True)
        found.driver.start()
        await until(lambda: len(found.driver.calls("NotifyRegistrationStatus")) == 2, "the second attempt")
        first, second = found.driver.calls("NotifyRegistrationStatus")
        assert first["request"]["error"] == "rpc error: code = Unavailable desc = starting"
        assert second["request"] == {"plugin_registered": True}


@pytest.mark.parametrize("versions", [["1.0.0"], ["0.3.0", "1.2"], ["v1.0.0"]])
def test_version_1_is_accepted(versions: list[str]) -> None:
    check_versions("d", versions)


@pytest.mark.parametrize("versions", [[], ["2.0.0"], ["1"], ["10.0.0"], ["1.x"]])
def test_other_version_is_refused(versions: list[str]) -> None:
    with pytest.raises(ValueError, match="version"):
        check_versions("d", versions)
