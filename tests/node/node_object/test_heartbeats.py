"""Heartbeats of nodes, in virtual time."""

import asyncio
from typing import Any

from sampan.client import ApiError, TransportError
from sampan.client.errors import NotFound, api_error
from sampan.component_base.resources import LEASES
from sampan.core.time import SystemClock
from sampan.node.node_object.content import NodeShape
from sampan.node.node_object.heartbeats import HeartbeatNode, Heartbeats
from sampan.resource import Object, ResourceInfo
from sampan.testing.time.virtual_time import virtual_time


class FakeResource:
    """Store of objects that records patches. The first `failures` requests fail."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.patched: dict[str, list[float]] = {}
        self.failures = 0

    @property
    def status(self) -> "FakeResource":
        return self

    async def get(self, name: str) -> Object:
        if name not in self.objects:
            raise missing()
        return self.objects[name]

    async def create(self, obj: Object) -> Object:
        if self.failures:
            self.failures -= 1
            raise TransportError("no route", sent=False)
        name = obj["metadata"]["name"]
        self.objects[name] = obj
        obj["metadata"]["uid"] = f"uid-{name}"
        return obj

    async def patch(self, name: str, patch: Any) -> Object:
        await self.get(name)
        self.patched.setdefault(name, []).append(asyncio.get_running_loop().time())
        return self.objects[name]


class FakeClient:
    """Stored Nodes and Leases."""

    def __init__(self) -> None:
        self.nodes = FakeResource()
        self.leases = FakeResource()

    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> Any:
        return self.leases if what == LEASES else self.nodes


def missing() -> ApiError:
    error = api_error({"reason": "NotFound", "code": 404, "message": "not found"})
    assert isinstance(error, NotFound)
    return error


async def beating(client: Any, count: int, seconds: float) -> None:
    """Run the heartbeats of some nodes for a while."""
    members = [HeartbeatNode(f"n{number}", number, "172.16.0.1") for number in range(count)]
    heartbeats = Heartbeats(client, members, shape=NodeShape(), clock=SystemClock())
    task = asyncio.create_task(heartbeats.run())
    await heartbeats.registered()
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.wait({task})


@virtual_time
async def test_leases_are_renewed_every_ten_seconds_spread_out() -> None:
    client = FakeClient()
    await beating(client, 4, 26)
    assert client.leases.patched == {
        "n0": [2.5, 12.5, 22.5],
        "n1": [5.0, 15.0, 25.0],
        "n2": [7.5, 17.5],
        "n3": [10.0, 20.0],
    }


@virtual_time
async def test_status_is_written_every_five_minutes() -> None:
    client = FakeClient()
    await beating(client, 2, 905)
    assert client.nodes.patched == {name: [300.0, 600.0, 900.0] for name in ("n0", "n1")}


@virtual_time
async def test_registration_is_retried() -> None:
    client = FakeClient()
    client.nodes.failures = 3
    await beating(client, 1, 0)
    assert asyncio.get_running_loop().time() == 3.0
    assert list(client.nodes.objects) == list(client.leases.objects) == ["n0"]


@virtual_time
async def test_deleted_lease_is_created_again_but_not_a_deleted_node() -> None:
    client = FakeClient()
    task = asyncio.create_task(beating(client, 1, 400))
    await asyncio.sleep(1)
    client.leases.objects.clear()
    client.nodes.objects.clear()
    await task
    assert list(client.leases.objects) == ["n0"]
    assert not client.nodes.objects
