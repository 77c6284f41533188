"""A node of processes is run by one agent, even if several have its name."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.client import Client, TransportError
from sampan.client.errors import api_error
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import LEASES, NODES, PODS
from sampan.core.time import SystemClock
from sampan.node.node_object.claim import ANNOTATION, LEASE_DURATION_S, LOOK_S, NodeClaim, NodeTaken
from sampan.node.nodes import ProcessNode
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.set_up import set_up
from sampan.operator.manager import Manager, ManagerOptions
from sampan.testing.time.virtual_time import virtual_time
from tests.client.connected import connected

SOON_S = 30.0
QUIET_S = 0.5


class FakeLeases:
    """Leases with resourceVersions. `faults`: how many calls fail first."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.faults = 0

    def resource(self, what: object, *, namespace: str) -> Any:
        return self

    async def get(self, name: str) -> Any:
        if self.faults:
            self.faults -= 1
            raise TransportError("no route", sent=False)
        if name not in self.objects:
            raise api_error({"reason": "NotFound", "code": 404, "message": "not found"})
        return copy.deepcopy(self.objects[name])

    async def create(self, lease: Any) -> Any:
        name = lease["metadata"]["name"]
        if name in self.objects:
            raise api_error({"reason": "AlreadyExists", "code": 409, "message": "exists"})
        lease["metadata"]["resourceVersion"] = "1"
        self.objects[name] = lease
        return lease

    async def update(self, lease: Any) -> Any:
        metadata = lease["metadata"]
        before = self.objects[metadata["name"]]["metadata"]["resourceVersion"]
        if metadata["resourceVersion"] != before:
            raise api_error({"reason": "Conflict", "code": 409, "message": "changed"})
        metadata["resourceVersion"] = str(int(before) + 1)
        self.objects[metadata["name"]] = lease
        return lease

    def holder(self) -> str:
        return str(self.objects["node"]["metadata"]["annotations"][ANNOTATION])

    def renew(self, at: str) -> None:
        self.objects["node"]["spec"]["renewTime"] = at


def claim(leases: FakeLeases, instance: str) -> NodeClaim:
    client: Any = leases
    return NodeClaim(client, "node", instance, clock=SystemClock())


def now() -> float:
    return asyncio.get_running_loop().time()


@virtual_time
async def test_node_without_owner_is_claimed_at_once() -> None:
    leases = FakeLeases()
    await claim(leases, "a/1").obtain()
    assert (now(), leases.holder()) == (0, "a/1")
    assert leases.objects["node"]["spec"]["holderIdentity"] == "node"


@virtual_time
async def test_restarted_agent_has_its_node_at_once() -> None:
    leases = FakeLeases()
    await claim(leases, "a/1").obtain()
    await claim(leases, "a/1").obtain()
    assert now() == 0


@virtual_time
async def test_lease_without_owner_is_claimed_at_once() -> None:
    leases = FakeLeases()
    await leases.create({"metadata": {"name": "node"}, "spec": {"holderIdentity": "node"}})
    await claim(leases, "a/1").obtain()
    assert (now(), leases.holder()) == (0, "a/1")


@virtual_time
async def test_node_is_taken_over_after_its_lease_has_not_changed_for_its_duration() -> None:
    leases = FakeLeases()
    await claim(leases, "a/1").obtain()
    waiting = asyncio.create_task(claim(leases, "b/2").obtain())
    for number in range(10):
        await asyncio.sleep(10)
        leases.renew(str(number))
    assert leases.holder() == "a/1"
    renewed_at = now()
    await waiting
    assert leases.holder() == "b/2"
    assert LEASE_DURATION_S <= now() - renewed_at <= LEASE_DURATION_S + 2 * LOOK_S


@virtual_time
async def test_one_of_two_standby_agents_takes_over() -> None:
    leases = FakeLeases()
    await claim(leases, "a/1").obtain()
    waiting = [asyncio.create_task(claim(leases, name).obtain()) for name in ("b/2", "c/3")]
    done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(pending)) == (1, 1)
    pending.pop().cancel()


@virtual_time
async def test_deleted_lease_is_not_taken_from_a_live_agent() -> None:
    leases = FakeLeases()
    await claim(leases, "a/1").obtain()
    waiting = asyncio.create_task(claim(leases, "b/2").obtain())
    await asyncio.sleep(LOOK_S)
    retained = leases.objects.pop("node")
    await asyncio.sleep(10)
    leases.objects["node"] = retained
    assert not waiting.done()
    waiting.cancel()


@virtual_time
async def test_claim_is_retried_while_the_server_is_down() -> None:
    leases = FakeLeases()
    leases.faults = 3
    await claim(leases, "a/1").obtain()
    assert now() == 3 * LOOK_S


@virtual_time
async def test_one_of_two_agents_with_one_directory_has_the_node_until_it_ends(
    tmp_path: Path,
) -> None:
    leases: Any = FakeLeases()
    instance = instance_of(tmp_path)
    one, other = (
        NodeClaim(leases, "node", instance, clock=SystemClock(), lock_file=tmp_path / INSTANCE_FILE) for _ in range(2)
    )
    await one.obtain()
    waiting = asyncio.create_task(other.obtain())
    await asyncio.sleep(100)
    assert not waiting.done()
    one.release()
    await waiting
    other.release()


def owned_by(instance: str) -> Any:
    """Return the Lease of a node that this instance runs."""
    return {"metadata": {"annotations": {ANNOTATION: instance}}}


def test_agent_ends_when_the_lease_names_another_owner() -> None:
    own = claim(FakeLeases(), "b/2")
    own.check(owned_by("b/2"))
    with pytest.raises(NodeTaken, match="taken over by a"):
        own.check(owned_by("a/1"))


def test_instance_is_recognized_by_its_directory(tmp_path: Path) -> None:
    assert instance_of(tmp_path / "a") == instance_of(tmp_path / "a")
    assert instance_of(tmp_path / "a") != instance_of(tmp_path / "b")


def manager(client: Client, root: Path) -> Manager:
    """Return the manager of a machine that wants to run the node."""
    made = Manager(client, ManagerOptions(graceful_shutdown_timeout_s=5.0))
    set_up(ControllerContext(made, SystemClock(), ""), ProcessNode("node", root))
    return made


def writer(name: str, directory: Path) -> Any:
    """Return a Pod whose container writes a line at each start."""
    container = {
        "name": "main",
        "image": "shell",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", f"echo started >> /sampan-test/out/{name}; exec sleep 1000"],
        "volumeMounts": [{"name": "out", "mountPath": "/sampan-test/out"}],
    }
    volumes = [{"name": "out", "hostPath": {"path": str(directory)}}]
    spec = {"nodeName": "node", "automountServiceAccountToken": False, "containers": [container], "volumes": volumes}
    return {"metadata": {"name": name}, "spec": spec}


def starts(directory: Path, name: str) -> int:
    path = directory / name
    return path.read_text().count("started") if path.exists() else 0


async def until(happened: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SOON_S):
        while True:
            if await happened():
                return
            await asyncio.sleep(0.05)


async def until_started(directory: Path, **times: int) -> None:
    """Wait until these Pods have started this many times."""

    async def happened() -> bool:
        return all(starts(directory, name) >= number for name, number in times.items())

    await until(happened)


async def test_pods_run_once_with_two_agents_and_continue_with_the_remaining_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected() as (client, _):
        pods = client.resource(PODS, namespace="default")
        one, other = manager(client, tmp_path / "one"), manager(client, tmp_path / "other")
        running = asyncio.create_task(one.run())
        await pods.create(writer("first", tmp_path))
        await until_started(tmp_path, first=1)
        standing_by = asyncio.create_task(other.run())
        await pods.create(writer("second", tmp_path))
        await until_started(tmp_path, second=1)
        await asyncio.sleep(QUIET_S)
        assert (starts(tmp_path, "first"), starts(tmp_path, "second")) == (1, 1)
        one.stop()
        await running
        monkeypatch.setattr("sampan.node.node_object.claim.LEASE_DURATION_S", 1)
        await until_started(tmp_path, first=2, second=2)
        assert await holder(client) == instance_of(tmp_path / "other")
        other.stop()
        await standing_by


async def holder(client: Client) -> str:
    lease = await client.resource(LEASES, namespace="kube-node-lease").get("node")
    return str(lease["metadata"]["annotations"][ANNOTATION])


async def test_lease_of_a_claim_is_deleted_with_its_node(tmp_path: Path) -> None:
    async with connected() as (client, _):
        leases = client.resource(LEASES, namespace="kube-node-lease")
        made = manager(client, tmp_path / "one")
        running = asyncio.create_task(made.run())

        async def owned() -> bool:
            found = [lease["metadata"].get("ownerReferences", []) for lease in await leases.list()]
            node = [each["metadata"]["uid"] for each in await client.resource(NODES).list()]
            return bool(node) and [[owner["uid"] for owner in owners] for owners in found] == [node]

        await until(owned)
        made.stop()
        await running
