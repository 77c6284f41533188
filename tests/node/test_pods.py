"""Pods on a simulated node."""

import asyncio
from typing import Any

import pytest

from sampan.client import DeleteOptions
from sampan.component_base.resources import LEASES, NODES, PODS
from sampan.core.time import format_time
from sampan.node.node_object.extended_resources import allocatable_change
from sampan.node.node_object.pod_addresses import PodAddresses
from sampan.node.runtime import ImageError
from sampan.node.simulated.runtime import SimulatedRuntime
from sampan.resource import Object
from sampan.testing.time.virtual_time import virtual_time
from tests.client.connected import connected
from tests.controllers.cluster import working
from tests.node.cluster import condition, create, nodes, simulated
from tests.node.scripted import LoopClock, detailed

CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


def is_ready(pod: Object) -> bool:
    return condition(pod, "Ready").get("status") == "True"


def has_phase(phase: str) -> Any:
    return lambda pod: pod["status"]["phase"] == phase


def state(pod: Object, container: int = 0) -> Object:
    found: Object = pod["status"]["containerStatuses"][container]["state"]
    return found


async def test_bound_pod_becomes_running_and_ready() -> None:
    async with simulated() as cluster:
        await create(cluster, "web")
        status = (await cluster.until(PODS, "web", is_ready))["status"]
        assert (status["phase"], status["hostIP"], status["podIP"]) == ("Running", "250.128.0.1", "250.0.0.2")
        assert status["podIPs"] == [{"ip": "250.0.0.2"}]
        assert {each["type"]: each["status"] for each in status["conditions"]} == dict.fromkeys(CONDITIONS, "True")
        (container,) = status["containerStatuses"]
        assert (container["ready"], container["started"], container["restartCount"]) == (True, True, 0)
        assert container["state"]["running"]["startedAt"] == status["startTime"]
        assert container["containerID"].startswith("simulated://")


async def test_status_is_written_once() -> None:
    async with simulated() as cluster:
        created = await create(cluster, "web")
        ready = await cluster.until(PODS, "web", is_ready)
        await create(cluster, "behind")
        await cluster.until(PODS, "behind", is_ready)
        assert (await cluster.get(PODS, "web"))["metadata"]["resourceVersion"] == ready["metadata"]["resourceVersion"]
        assert int(ready["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


async def test_pods_of_other_nodes_are_ignored() -> None:
    async with simulated() as cluster:
        await create(cluster, "elsewhere", nodeName="other")
        await create(cluster, "nowhere", nodeName="")
        await create(cluster, "web")
        await cluster.until(PODS, "web", is_ready)
        for name in ("elsewhere", "nowhere"):
            assert (await cluster.get(PODS, name))["status"]["phase"] == "Pending"


async def test_pod_becomes_ready_after_its_delay() -> None:
    async with simulated() as cluster:
        await create(cluster, "web", annotations={"sampan.dev/ready-after": "100ms"})
        pod = await cluster.until(PODS, "web", has_phase("Running"))
        assert condition(pod, "Ready")["reason"] == "ContainersNotReady"
        assert condition(pod, "Ready")["message"] == "containers with unready status: [main]"
        await cluster.until(PODS, "web", is_ready)


@pytest.mark.parametrize(
    ("annotations", "policy", "phase", "code"),
    [
        ({}, "Never", "Succeeded", 0),
        ({}, "OnFailure", "Succeeded", 0),
        ({"sampan.dev/complete-after": "20ms"}, "Never", "Succeeded", 0),
        ({"sampan.dev/fail-after": "0s"}, "Never", "Failed", 1),
        ({"sampan.dev/exit-code": "3"}, "Never", "Failed", 3),
        ({"sampan.dev/fail-after": "20ms", "sampan.dev/exit-code": "9"}, "Never", "Failed", 9),
    ],
    ids=["never", "on failure", "completes", "fails", "exit code", "fails with a code"],
)
async def test_pod_ends_as_its_annotations_state(
    annotations: dict[str, str], policy: str, phase: str, code: int
) -> None:
    async with simulated() as cluster:
        await create(cluster, "task", annotations=annotations, restartPolicy=policy)
        pod = await cluster.until(PODS, "task", has_phase(phase))
        ended = state(pod)["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (code, "Error" if code else "Completed")
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        assert condition(pod, "Ready")["reason"] == condition(pod, "ContainersReady")["reason"] == reason


async def test_failed_container_restarts_at_once_and_then_with_backoff() -> None:
    async with simulated() as cluster:
        await create(cluster, "crashes", annotations={"sampan.dev/fail-after": "0s"})
        pod = await cluster.until(PODS, "crashes", lambda pod: "CrashLoopBackOff" in str(pod["status"]))
        (container,) = pod["status"]["containerStatuses"]
        assert (pod["status"]["phase"], container["restartCount"]) == ("Running", 1)
        assert container["lastState"]["terminated"]["exitCode"] == 1
        uid = pod["metadata"]["uid"]
        assert container["state"]["waiting"] == {
            "reason": "CrashLoopBackOff",
            "message": f"back-off 10s restarting failed container=main pod=crashes_default({uid})",
        }


async def test_init_containers_succeed_first_and_sidecars_keep_running() -> None:
    init = [{"name": "first", "image": "i"}, {"name": "sidecar", "image": "s", "restartPolicy": "Always"}]
    async with simulated() as cluster:
        await create(cluster, "web", initContainers=init)
        pod = await cluster.until(PODS, "web", is_ready)
        first, sidecar = pod["status"]["initContainerStatuses"]
        assert (first["state"]["terminated"]["exitCode"], first["ready"]) == (0, True)
        assert "running" in sidecar["state"]


async def test_sidecars_end_after_the_other_containers() -> None:
    init = [{"name": "sidecar", "image": "s", "restartPolicy": "Always"}]
    async with simulated() as cluster:
        await create(cluster, "task", initContainers=init, restartPolicy="Never")
        pod = await cluster.until(PODS, "task", has_phase("Succeeded"))
        assert "terminated" in pod["status"]["initContainerStatuses"][0]["state"]


async def test_readiness_gate_delays_ready() -> None:
    async with simulated() as cluster:
        await create(cluster, "web", readinessGates=[{"conditionType": "example.com/up"}])
        pod = await cluster.until(PODS, "web", has_phase("Running"))
        assert condition(pod, "Ready")["reason"] == "ReadinessGatesNotReady"
        gate = {"type": "example.com/up", "status": "True"}
        await cluster.patch_status(PODS, "web", {"conditions": [*pod["status"]["conditions"], gate]})
        pod = await cluster.until(PODS, "web", is_ready)
        assert "reason" not in condition(pod, "Ready")
        assert condition(pod, "example.com/up")["status"] == "True"


async def test_deleted_pod_releases_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assign = PodAddresses.assign
    monkeypatch.setattr(PodAddresses, "assign", lambda self, _: assign(self, "250.0.0.0/30"))
    async with simulated() as cluster:
        await create(cluster, "web")
        only = (await cluster.until(PODS, "web", is_ready))["status"]["podIP"]
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
        await create(cluster, "next")
        assert (await cluster.until(PODS, "next", is_ready))["status"]["podIP"] == only


async def test_deleted_pod_with_a_finalizer_has_ended() -> None:
    async with simulated() as cluster:
        made = await create(cluster, "web")
        await cluster.patch(PODS, "web", {"metadata": {"finalizers": ["example.com/hold"]}})
        await cluster.until(PODS, "web", is_ready)
        await cluster.delete(PODS, "web")
        pod = await cluster.until(PODS, "web", has_phase("Failed"))
        assert state(pod)["terminated"]["exitCode"] == 143
        assert pod["metadata"]["uid"] == made["metadata"]["uid"]
        await cluster.patch(PODS, "web", {"metadata": {"finalizers": None}})
        await cluster.until_gone(PODS, "web")


async def test_containers_stop_within_their_grace_period() -> None:
    async with simulated() as cluster:
        await create(cluster, "slow", annotations={"sampan.dev/stop-after": "1h"})
        await cluster.patch(PODS, "slow", {"metadata": {"finalizers": ["example.com/hold"]}})
        await cluster.until(PODS, "slow", is_ready)
        await cluster.client.resource(PODS).delete("slow", DeleteOptions(grace_period_seconds=1))
        assert "running" in state(await cluster.get(PODS, "slow"))
        pod = await cluster.until(PODS, "slow", has_phase("Failed"))
        assert state(pod)["terminated"]["exitCode"] == 137
        await cluster.patch(PODS, "slow", {"metadata": {"finalizers": None}})


async def test_new_pod_with_the_same_name_is_another_pod() -> None:
    async with simulated() as cluster:
        before = await create(cluster, "web")
        await cluster.until(PODS, "web", is_ready)
        await cluster.client.resource(PODS).delete("web", DeleteOptions(grace_period_seconds=0))
        await cluster.until_gone(PODS, "web")
        after = await create(cluster, "web")
        pod = await cluster.until(PODS, "web", is_ready)
        assert pod["metadata"]["uid"] == after["metadata"]["uid"] != before["metadata"]["uid"]
        assert pod["status"]["podIP"] == "250.0.0.3"


async def test_runs_continue_after_a_restart_of_the_agent() -> None:
    async with connected() as (client, _):
        async with working(client, nodes()) as cluster:
            await create(cluster, "web")
            await create(cluster, "task", annotations={"sampan.dev/complete-after": "300ms"}, restartPolicy="Never")
            before = await cluster.until(PODS, "web", is_ready)
            await cluster.until(PODS, "task", is_ready)
        async with working(client, nodes()) as cluster:
            await create(cluster, "new")
            new = await cluster.until(PODS, "new", is_ready)
            await cluster.until(PODS, "task", has_phase("Succeeded"))
            after = await cluster.get(PODS, "web")
            assert after["status"] == before["status"]
            assert new["status"]["podIP"] != after["status"]["podIP"] == "250.0.0.2"


async def test_nodes_register_and_renew_their_leases() -> None:
    async with simulated(("one", "two")) as cluster:
        node = await cluster.until(NODES, "two", lambda node: condition(node, "Ready").get("status") == "True")
        assert node["status"]["capacity"]["pods"] == node["status"]["allocatable"]["pods"] == "110"
        assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "two"
        assert node["spec"]["podCIDR"] == "250.0.1.0/24"
        assert {"type": "InternalIP", "address": "250.128.0.2"} in node["status"]["addresses"]
        leases = cluster.client.resource(LEASES, namespace="kube-node-lease")
        found = await cluster.until_all(NODES, lambda found: len(found) == 2)
        assert [node["metadata"]["name"] for node in found] == ["one", "two"]
        lease = next(each for each in [*(await leases.list())] if each["metadata"]["name"] == "two")
        assert lease["spec"]["leaseDurationSeconds"] == 40
        assert lease["metadata"]["ownerReferences"][0]["uid"] == node["metadata"]["uid"]


async def test_existing_node_gets_its_status() -> None:
    async with connected() as (client, _):
        await client.resource(NODES).create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}})
        async with working(client, nodes()) as cluster:
            await cluster.until(NODES, "node", lambda node: condition(node, "Ready").get("status") == "True")


def waits(reason: str) -> Any:
    """Return whether the first container waits for this reason."""

    def holds(pod: Object) -> bool:
        statuses = pod["status"].get("containerStatuses") or [{}]
        return bool(statuses[0].get("state", {}).get("waiting", {}).get("reason") == reason)

    return holds


@pytest.mark.parametrize(
    ("image", "annotations"),
    [("app:1", {"sampan.dev/image-pull-fails": "always"}), ("registry.invalid/app:1", {})],
    ids=["annotation", "name"],
)
async def test_failed_pull_is_reported_as_by_a_kubelet(image: str, annotations: dict[str, str]) -> None:
    async with simulated() as cluster:
        containers = [{"name": "main", "image": image}, {"name": "other", "image": "other:1"}]
        await create(cluster, "web", annotations=annotations, containers=containers)
        failed = await cluster.until(PODS, "web", waits("ErrImagePull"))
        message = failed["status"]["containerStatuses"][0]["state"]["waiting"]["message"]
        assert message.endswith(f'failed to resolve reference "{image}": {image}: not found')
        backing_off = await cluster.until(PODS, "web", waits("ImagePullBackOff"))
        assert backing_off["status"]["phase"] == "Pending"
        waiting = backing_off["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting["message"] == f'Back-off pulling image "{image}": ErrImagePull: {message}'
        reported = [(each["involvedObject"]["fieldPath"], each["message"]) for each in await cluster.events("BackOff")]
        assert ("spec.containers{main}", f'Back-off pulling image "{image}"') in reported
        assert {each["message"] for each in await cluster.events("Failed")} >= {
            f'Failed to pull image "{image}": {message}',
            "Error: ErrImagePull",
            "Error: ImagePullBackOff",
        }


@virtual_time
async def test_image_can_be_pulled_after_a_while() -> None:
    runtime = SimulatedRuntime(PodAddresses("10.0.0.0/24"), LoopClock(), lambda key: None)
    metadata = {
        "name": "web",
        "creationTimestamp": format_time(LoopClock().now()),
        "annotations": {"sampan.dev/image-pull-fails": "3s"},
    }
    new = detailed({}, metadata=metadata)
    with pytest.raises(ImageError, match="not found"):
        await runtime.pull_image(new, "app:1")
    await asyncio.sleep(3)
    await runtime.pull_image(new, "app:1")


@pytest.mark.parametrize("change", [{"example.com/gpu": "4"}, {"example.com/gpu": "2", "vendor.io/nic": "1"}])
async def test_extended_resources_of_the_capacity_become_allocatable(change: dict[str, str]) -> None:
    def has(amounts: dict[str, str]) -> Any:
        def holds(node: Object) -> bool:
            allocatable = node["status"]["allocatable"]
            return {name: value for name, value in allocatable.items() if "/" in name} == amounts

        return holds

    async with simulated() as cluster:
        await cluster.until(NODES, "node", lambda node: node["status"].get("allocatable"))
        await cluster.patch_status(NODES, "node", {"capacity": change})
        node = await cluster.until(NODES, "node", has(change))
        assert node["status"]["allocatable"]["pods"] == "110"
        await cluster.patch_status(NODES, "node", {"capacity": dict.fromkeys(change)})
        await cluster.until(NODES, "node", has({}))


def test_amounts_that_the_node_measures_are_not_copied() -> None:
    raw = (
        b'{"status": {"capacity": {"cpu": "8", "a.kubernetes.io/b": "1"}, "allocatable": {"cpu": "7", "x.io/y": "1"}}}'
    )
    assert allocatable_change(raw) == {"x.io/y": None}
