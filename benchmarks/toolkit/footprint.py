"""Memory and processor time of a whole operator, in a process of its own, with a server in another one."""

import asyncio
import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.load import Figure
from benchmarks.server import running
from benchmarks.toolkit.small_operator import WORKERS, Boat, BoatSpec
from sampan.client.client import Client
from sampan.client.conditions import condition_is
from sampan.client.config import load_config
from sampan.client.wait import wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from sampan.resource.crd import crd_of

_CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
_WRITERS = 16
_TIME_LIMIT_S = 300


def measure_memory(count: int) -> Figure:
    """Measure the resident MB of an operator that has reconciled half of `count` boats."""
    found = _measured(count // 2)
    return Figure(found["resident_mb"], count // 2, errors=found["missing"], note=_note(found, count // 2))


def measure_cpu(count: int) -> Figure:
    """Measure the processor seconds of the same operator, with its start: `count` writes."""
    found = _measured(count // 2)
    return Figure(found["cpu_s"], count, errors=found["missing"], note=_note(found, count // 2))


def _note(found: dict[str, Any], count: int) -> str:
    figures = f"{found['resident_mb']:.1f} MB, {found['cpu_s']:.2f} s of CPU"
    return f"{count:,} boats, {found['writes']:,} writes, {WORKERS} workers; {figures} with the imports"


@functools.cache
def _measured(count: int) -> dict[str, Any]:
    """Run the operator once for both figures."""
    with tempfile.TemporaryDirectory(prefix="sampan-bench-") as directory:
        data = Path(directory)
        with running(data):
            kubeconfig = data / "kubeconfig"
            asyncio.run(_make_boats(kubeconfig, count))
            command = [sys.executable, "-m", "benchmarks.toolkit.small_operator", str(kubeconfig), str(count)]
            output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIME_LIMIT_S).stdout
    found: dict[str, Any] = json.loads(output)
    return {**found, "missing": abs(2 * count - found["writes"])}


async def _make_boats(kubeconfig: Path, count: int) -> None:
    async with Client.from_config(load_config(kubeconfig, environ={})) as client:
        crd = await client.resource(_CRDS).create(crd_of(Boat))
        await wait_for(client.resource(_CRDS), crd["metadata"]["name"], condition_is("Established"), timeout_s=30)
        boats = client.resource(Boat)
        numbers = iter(range(count))

        async def write() -> None:
            for number in numbers:
                boat = Boat(spec=BoatSpec(crew=[f"sailor-{number}-{each}" for each in range(10)]))
                boat.metadata.name = f"boat-{number}"
                await boats.create(boat)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(_WRITERS):
                tasks.create_task(write())
