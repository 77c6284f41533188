"""`python -m benchmarks.proxy`: rules of many endpoints, and the change of one, in a new network namespace.

It needs root and nftables. The server is a process; the proxy runs in this one.
"""

import argparse
import asyncio
import ctypes
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.load import Figure
from benchmarks.report import machine, report
from benchmarks.scale.report import store as store_scale
from benchmarks.scale.report import text_table
from benchmarks.scenarios import Scenario
from benchmarks.server import NO_LOOPS, running
from sampan.client import Client, MergePatch, load_config
from sampan.component_base.resources import ENDPOINT_SLICES, SERVICES
from sampan.informer import EventHandlerFuncs
from sampan.operator.manager import Manager
from sampan.service_proxy.kernel import Kernel
from sampan.service_proxy.proxy import ServiceProxy
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.set_up import set_up
from sampan.service_proxy.sources import sources_of

RESULTS = Path(__file__).parents[1] / "results"
PREFIX = "proxy"
ALL = Scenario("all", "rules of all Services, after the lists", None, 0, 1.0, unit=" s", lower_is_better=True)
CHANGE = Scenario("change", "change of one endpoint: event to rules", None, 0, 10.0, unit=" ms", lower_is_better=True)
CLONE_NEWNET = 0x40000000
NODE = "node-a"
PAUSE_S = 0.1
"""Pause between changes, so that each change is written separately."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.proxy", description=__doc__)
    parser.add_argument("--services", type=int, default=1000, help="Services (1000)")
    parser.add_argument("--endpoints", type=int, default=10, help="endpoints of each (10)")
    parser.add_argument("--changes", type=int, default=50, help="changes of one endpoint (50)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sampan-proxy-") as name:
        data = Path(name) / "data"
        with running(data, *NO_LOOPS, "--storage", "memory"):
            measured = measure(data / "kubeconfig", given.services, given.endpoints, given.changes)
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                figures = runner.run(measured)
    about = machine() | {"endpoints": f"{given.services * given.endpoints:,} of {given.services:,} Services"}
    path = store_scale(figures, about, given.results, kind=PREFIX, title="a service proxy")
    print(text_table(figures))
    report(f"stored in {path}")
    return 1 if any(figure.value > (scenario.goal or 0) for scenario, figure in figures.items()) else 0


async def measure(kubeconfig: Path, services: int, endpoints: int, changes: int) -> dict[Scenario, Figure]:
    """Fill the server, start a proxy and change endpoints."""
    async with Client.from_config(load_config(kubeconfig), field_manager="bench") as client:
        report(f"making {services:,} Services with {endpoints} endpoints each")
        for start in range(0, services, 50):
            batch = range(start, min(start + 50, services))
            await asyncio.gather(*(_create(client, number, endpoints) for number in batch))
        manager = Manager(client)
        arrivals: asyncio.Queue[float] = asyncio.Queue()
        slices = sources_of(manager.informers, NODE).slices
        slices.add_handler(EventHandlerFuncs(update=lambda old, new: arrivals.put_nowait(time.perf_counter())))
        proxy = set_up(manager, NODE, options=RuleOptions(("10.0.0.0/8",)), kernel=Kernel(enter=_own_network))
        running_manager = asyncio.create_task(manager.run())
        await asyncio.wait({asyncio.create_task(slices.synced())})
        began = time.perf_counter()
        await proxy.ready()
        everything = Figure(time.perf_counter() - began, note=f"{services * endpoints:,} endpoints")
        took = [await _change(client, number, proxy, arrivals) for number in range(changes)]
        manager.stop()
        await running_manager
    cuts = statistics.quantiles(took, n=100) if len(took) > 1 else took * 99
    change = Figure(statistics.median(took), p50_ms=cuts[49], p99_ms=cuts[98], note=f"p99 {cuts[98]:.1f} ms")
    return {ALL: everything, CHANGE: change}


async def _change(client: Client, number: int, proxy: ServiceProxy, arrivals: asyncio.Queue[float]) -> float:
    """Change the first endpoint of a Service. Return the milliseconds from its event to its rules."""
    await asyncio.sleep(PAUSE_S)
    name = f"s{number}"
    found = await client.resource(ENDPOINT_SLICES).get(name)
    items = [{**found["endpoints"][0], "addresses": [f"10.200.0.{number % 250 + 1}"]}, *found["endpoints"][1:]]
    await client.resource(ENDPOINT_SLICES).patch(name, MergePatch({"endpoints": items}))
    arrived = await arrivals.get()
    await proxy.ready()
    return (time.perf_counter() - arrived) * 1000


async def _create(client: Client, number: int, endpoints: int) -> None:
    name = f"s{number}"
    await client.resource(SERVICES).create(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
    )
    items: list[Any] = [
        {"addresses": [f"10.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"], "nodeName": "node-b"}
        for address in range(number * endpoints + 256, (number + 1) * endpoints + 256)
    ]
    await client.resource(ENDPOINT_SLICES).create(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "ports": [{"name": "", "port": 8080}],
            "endpoints": items,
        }
    )


def _own_network() -> None:
    """Move the calling thread into a new network namespace, which ends with the thread."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise PermissionError(ctypes.get_errno(), "a network namespace needs root")


if __name__ == "__main__":
    sys.exit(main())
