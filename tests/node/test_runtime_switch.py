"""Restarts of a node's agent with another runtime or another address, while Pods exist."""

from pathlib import Path
from typing import Any

import pytest

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PODS
from sampan.node.node_object.content import KubeletAddress
from sampan.node.nodes import ProcessNode, SimulatedNodes
from sampan.node.set_up import set_up
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import SetUp, Working, working
from tests.node.cluster import NODE, condition

SHELL = ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"]
_RUNTIMES = ("simulated", "process")
_OTHER = {"simulated": "process", "process": "simulated"}


def agent(runtime: str, root: Path, pod_address: str = "127.0.0.1") -> SetUp:
    """Return a function that sets up the node with a runtime."""

    def setting_up(context: ControllerContext) -> None:
        nodes: Any = SimulatedNodes((NODE,), serve=KubeletAddress("127.0.0.1"))
        if runtime == "process":
            nodes = ProcessNode(NODE, root, pod_address=pod_address)
        set_up(context, nodes)

    return setting_up


async def create(cluster: Working, name: str, **spec: Any) -> Object:
    container = {"name": "main", "image": "app:1", "command": SHELL, "imagePullPolicy": "IfNotPresent"}
    fields = {"nodeName": NODE, "automountServiceAccountToken": False, "containers": [container], **spec}
    return await cluster.create(PODS, {"metadata": {"name": name}, "spec": fields})


def runs_on(runtime: str) -> Any:
    """Return whether the Pod is ready and this runtime runs its container."""

    def holds(pod: Object) -> bool:
        ready = condition(pod, "Ready").get("status") == "True"
        return ready and pod["status"]["containerStatuses"][0]["containerID"].startswith(f"{runtime}://")

    return holds


@pytest.mark.parametrize("first", _RUNTIMES)
async def test_pods_restart_on_the_new_runtime_with_its_addresses(tmp_path: Path, first: str) -> None:
    second = _OTHER[first]
    async with connected() as (client, _):
        async with working(client, agent(first, tmp_path / "node")) as cluster:
            await create(cluster, "web")
            before = await cluster.until(PODS, "web", runs_on(first))
        async with working(client, agent(second, tmp_path / "node")) as cluster:
            after = await cluster.until(PODS, "web", runs_on(second))
    assert after["status"]["podIPs"] == [{"ip": after["status"]["podIP"]}] != before["status"]["podIPs"]
    main = after["status"]["containerStatuses"][0]
    assert main["restartCount"] == 1
    terminated = main["lastState"]["terminated"]
    if first == "simulated":
        assert (terminated["exitCode"], terminated["reason"]) == (137, "ContainerStatusUnknown")
    assert terminated["containerID"].startswith(f"{first}://")


@pytest.mark.parametrize("first", _RUNTIMES)
async def test_pod_of_the_old_runtime_can_be_deleted(tmp_path: Path, first: str) -> None:
    async with connected() as (client, _):
        async with working(client, agent(first, tmp_path / "node")) as cluster:
            await create(cluster, "web", terminationGracePeriodSeconds=5)
            await cluster.until(PODS, "web", runs_on(first))
        await client.resource(PODS).delete("web")
        async with working(client, agent(_OTHER[first], tmp_path / "node")) as cluster:
            await cluster.until_gone(PODS, "web")


@pytest.mark.parametrize("first", _RUNTIMES)
async def test_pod_that_never_restarts_fails_on_the_new_runtime(tmp_path: Path, first: str) -> None:
    async with connected() as (client, _):
        annotations = {"sampan.dev/complete-after": "1h"}
        async with working(client, agent(first, tmp_path / "node")) as cluster:
            await cluster.create(
                PODS,
                {
                    "metadata": {"name": "task", "annotations": annotations},
                    "spec": {
                        "nodeName": NODE,
                        "restartPolicy": "Never",
                        "automountServiceAccountToken": False,
                        "containers": [{"name": "main", "image": "app:1", "command": SHELL}],
                    },
                },
            )
            await cluster.until(PODS, "task", runs_on(first))
        async with working(client, agent(_OTHER[first], tmp_path / "node")) as cluster:
            failed = await cluster.until(PODS, "task", lambda pod: pod["status"]["phase"] == "Failed")
    assert failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137


@pytest.mark.parametrize("first", _RUNTIMES)
async def test_node_gets_labels_addresses_and_version_of_its_runtime(tmp_path: Path, first: str) -> None:
    second = _OTHER[first]
    async with connected() as (client, _):
        async with working(client, agent(first, tmp_path / "node")) as cluster:
            await cluster.until(NODES, NODE, lambda node: node["metadata"]["labels"]["sampan.dev/runtime"] == first)
            await cluster.patch(NODES, NODE, {"metadata": {"labels": {"team": "blue"}}})
        async with working(client, agent(second, tmp_path / "node")) as cluster:
            shown = f"{second}://"
            node = await cluster.until(
                NODES, NODE, lambda node: node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith(shown)
            )
    assert node["metadata"]["labels"]["sampan.dev/runtime"] == second
    assert node["metadata"]["labels"]["team"] == "blue"


async def test_addresses_that_another_client_wrote_are_replaced(tmp_path: Path) -> None:
    async with connected() as (client, _):
        await client.resource(NODES).create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
        async with working(client, agent("simulated", tmp_path)) as cluster:
            await cluster.until(NODES, NODE, lambda node: node["status"].get("addresses"))
            old = [{"type": "ExternalIP", "address": "192.0.2.7"}, {"type": "InternalIP", "address": "192.0.2.8"}]
            await cluster.patch_status(NODES, NODE, {"addresses": old})
        async with working(client, agent("simulated", tmp_path)) as cluster:
            found = await cluster.until(NODES, NODE, lambda node: "192.0.2.8" not in str(node["status"]["addresses"]))
    assert [each["type"] for each in found["status"]["addresses"]] == ["InternalIP", "Hostname"]


async def test_pod_gets_the_new_address_of_the_machine(tmp_path: Path) -> None:
    async with connected() as (client, _):
        async with working(client, agent("process", tmp_path / "node", "192.0.2.1")) as cluster:
            await create(cluster, "web")
            await cluster.until(PODS, "web", lambda pod: pod["status"].get("podIP") == "192.0.2.1")
        async with working(client, agent("process", tmp_path / "node", "192.0.2.2")) as cluster:
            found = await cluster.until(PODS, "web", lambda pod: pod["status"].get("podIP") == "192.0.2.2")
            assert found["status"]["podIPs"] == [{"ip": "192.0.2.2"}]
            await cluster.delete(PODS, "web")
            await cluster.until_gone(PODS, "web")
