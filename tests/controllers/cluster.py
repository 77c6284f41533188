"""A server in this process, and a manager that runs some control loops on it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sampan.client import Client, MergePatch, NotFound, wait_for
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import EVENTS, PODS
from sampan.core.time import Clock, SystemClock
from sampan.operator.manager import Manager, ManagerOptions
from sampan.resource import Object, ResourceInfo
from tests.client.connected import connected

WAIT_S = 60.0

SetUp = Callable[[ControllerContext], object]


@dataclass(frozen=True, slots=True)
class Working:
    """Client of a cluster with running loops. The default namespace is `default`."""

    client: Client
    manager: Manager

    async def create(self, kind: ResourceInfo, obj: Object) -> Object:
        """Create an object; apiVersion and kind are filled in."""
        return await self.client.resource(kind).create({"apiVersion": kind.api_version, "kind": kind.kind, **obj})

    async def get(self, kind: ResourceInfo, name: str) -> Object:
        """Read an object."""
        return await self.client.resource(kind).get(name)

    async def patch(self, kind: ResourceInfo, name: str, change: Object) -> Object:
        """Apply a merge patch."""
        return await self.client.resource(kind).patch(name, MergePatch(change))

    async def patch_status(self, kind: ResourceInfo, name: str, status: Object) -> None:
        """Apply a merge patch to the status."""
        await self.client.resource(kind).status.patch(name, MergePatch({"status": status}))

    async def delete(self, kind: ResourceInfo, name: str) -> None:
        """Delete an object."""
        await self.client.resource(kind).delete(name)

    async def until(self, kind: ResourceInfo, name: str, holds: Callable[[Object], Any]) -> Object:
        """Wait until a condition holds for an object, and return it."""
        found = await wait_for(
            self.client.resource(kind), name, lambda obj: obj is not None and bool(holds(obj)), timeout_s=WAIT_S
        )
        assert found is not None
        return found

    async def until_gone(self, kind: ResourceInfo, name: str) -> None:
        """Wait until the object does not exist."""
        await wait_for(self.client.resource(kind), name, lambda obj: obj is None, timeout_s=WAIT_S)

    async def until_all(self, kind: ResourceInfo, holds: Callable[[list[Object]], Any]) -> list[Object]:
        """Wait until a condition holds for the objects of a kind, and return them."""
        async with asyncio.timeout(WAIT_S):
            while True:
                found = await self.all(kind)
                if holds(found):
                    return found
                await asyncio.sleep(0.01)

    async def all(self, kind: ResourceInfo) -> list[Object]:
        """Return the objects of a kind."""
        return list(await self.client.resource(kind).list())

    async def pods(self, count: int) -> list[Object]:
        """Wait for a number of Pods that are not being deleted, and return them."""
        found = await self.until_all(PODS, lambda pods: len([p for p in pods if _stays(p)]) == count)
        return [pod for pod in found if _stays(pod)]

    async def make_ready(self, pod: Object, *, since: str = "2020-01-01T00:00:00Z") -> None:
        """Make a Pod running and ready."""
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": since}
        await self.patch_status(PODS, pod["metadata"]["name"], {"phase": "Running", "conditions": [condition]})

    async def events(self, reason: str) -> list[Object]:
        """Wait for events with a reason, and return them."""

        def of_reason(events: list[Object]) -> list[Object]:
            return [event for event in events if event.get("reason") == reason]

        return of_reason(await self.until_all(EVENTS, of_reason))

    async def exists(self, kind: ResourceInfo, name: str) -> bool:
        """Return True if the object exists."""
        try:
            await self.get(kind, name)
        except NotFound:
            return False
        return True


def _stays(pod: Object) -> bool:
    return "deletionTimestamp" not in pod["metadata"]


@asynccontextmanager
async def cluster(*loops: SetUp, clock: Clock | None = None, root_ca: str = "") -> AsyncIterator[Working]:
    """Run a cluster with these loops."""
    async with connected() as (client, _), working(client, *loops, clock=clock, root_ca=root_ca) as found:
        yield found


@asynccontextmanager
async def working(
    client: Client, *loops: SetUp, clock: Clock | None = None, root_ca: str = ""
) -> AsyncIterator[Working]:
    """Run loops on an existing server, so that tests can stop them and start others."""
    manager = Manager(client, ManagerOptions(graceful_shutdown_timeout_s=1.0))
    context = ControllerContext(manager, clock or SystemClock(), root_ca, namespace_grace_s=0.0)
    for set_up in loops:
        set_up(context)
    task = asyncio.create_task(manager.run())
    await asyncio.wait({task, asyncio.create_task(manager.elected.wait())}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield Working(client, manager)
    finally:
        manager.stop()
        await task
