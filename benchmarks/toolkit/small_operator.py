"""`python -m benchmarks.toolkit.small_operator KUBECONFIG COUNT`: an operator that writes two times for each boat.

It imports no more than an operator needs. When all boats are reconciled, it prints its writes, its processor time since
the start of the process, and its resident memory, as JSON.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import msgspec

from sampan.client.client import Client
from sampan.client.config import load_config
from sampan.client.patch import MergePatch
from sampan.operator import Builder, Finalizing, Manager, Request, Result, finalizer
from sampan.resource import CustomResource, resource

WORKERS = 8
_FINALIZER = "toolkit.example.com/crew"


class BoatSpec(msgspec.Struct, rename="camel"):
    """Desired state of a boat."""

    crew: list[str]


class BoatStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """Observed state of a boat."""

    afloat: bool = False


@resource(group="toolkit.example.com", version="v1")
class Boat(CustomResource):
    """A boat."""

    spec: BoatSpec
    status: BoatStatus | None = None


class Boats:
    """The reconciler: a finalizer, then the status. It counts its writes."""

    def __init__(self, manager: Manager, count: int) -> None:
        self._boats = manager.client.resource(Boat)
        self._count = count
        self._afloat: set[str] = set()
        self.writes = 0
        self.complete = asyncio.Event()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one boat."""
        boat = await self._boats.find(request)
        if boat is None:
            return None
        self.writes += _FINALIZER not in boat.metadata.finalizers
        return await finalizer(self._boats, boat, _FINALIZER, Finalizing(self._launch, self._sink))

    async def _launch(self, boat: Boat) -> Result | None:
        if boat.status is None or not boat.status.afloat:
            patch = MergePatch({"status": {"afloat": True}})
            await self._boats.patch(boat.metadata.name, patch, subresource="status")
            self.writes += 1
        self._afloat.add(boat.metadata.name)
        if len(self._afloat) == self._count:
            self.complete.set()
        return None

    async def _sink(self, boat: Boat) -> Result | None:
        return None


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


async def main(kubeconfig: str, count: int) -> None:
    """Reconcile all boats, then print the figures."""
    async with Client.from_config(load_config(kubeconfig, environ={}), field_manager="boats") as client:
        manager = Manager(client)
        boats = Boats(manager, count)
        Builder(manager).for_(Boat).with_options(max_concurrent_reconciles=WORKERS).complete(boats)
        running = asyncio.create_task(manager.run())
        await boats.complete.wait()
        # The events of the last writes belong to the work.
        await asyncio.sleep(1)
        found = {"writes": boats.writes, "cpu_s": time.process_time(), "resident_mb": _resident_mb()}
        print(json.dumps(found), flush=True)
        manager.stop()
        await running


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
