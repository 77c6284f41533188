"""Operators: the work queue, and the reconciliation of networks with a stub of a backend."""

import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry

from benchmarks.load import Figure
from benchmarks.server import running
from sampan.client.client import Client
from sampan.client.conditions import condition_is
from sampan.client.config import load_config
from sampan.client.patch import MergePatch
from sampan.client.wait import wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Builder, Finalizing, GenerationChanged, Manager, Request, Result, finalizer
from sampan.operator.queue import WorkQueue, WorkQueueMetrics
from sampan.resource import CustomResource, ResourceInfo, resource
from sampan.resource.crd import crd_of

WORKERS = 8
_WRITERS = 16
_QUEUE_DEPTH = 1000
_CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
_FINALIZER = "toolkit.example.com/backend"


def measure_queue(count: int) -> Figure:
    """Measure the CPU microseconds of one `add`, `get` and `done`, with metrics."""
    return asyncio.run(_measure_queue(count * 10))


async def _measure_queue(count: int) -> Figure:
    queue: WorkQueue[Request] = WorkQueue("bench", metrics=WorkQueueMetrics(CollectorRegistry()))
    requests = [Request("default", f"net-{number}") for number in range(min(count, _QUEUE_DEPTH))]
    repeats = max(count // len(requests), 1)
    began = time.process_time()
    for _ in range(repeats):
        for request in requests:
            queue.add(request)
        for _ in requests:
            queue.done(await queue.get())
    took_s = time.process_time() - began
    note = f"{len(requests):,} keys in the queue at once"
    return Figure(took_s / (repeats * len(requests)) * 1e6, repeats * len(requests), errors=len(queue), note=note)


class NetworkSpec(msgspec.Struct, rename="camel"):
    """Desired state of a network."""

    cidr: str


class NetworkStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """Observed state of a network."""

    network_id: str = ""


@resource(group="toolkit.example.com", version="v1")
class Network(CustomResource):
    """A network."""

    spec: NetworkSpec
    status: NetworkStatus | None = None


class Backend:
    """Backend in which each call takes a millisecond. It counts the creates."""

    def __init__(self, desired: int) -> None:
        self.networks: dict[str, str] = {}
        self.creates: Counter[str] = Counter()
        self.complete = asyncio.Event()
        self._desired = desired

    async def find(self, uid: str) -> str | None:
        """Return the id of an object's network, or None."""
        await asyncio.sleep(0.001)
        return self.networks.get(uid)

    async def create(self, uid: str) -> str:
        """Create a network for an object. Return its id."""
        await asyncio.sleep(0.001)
        self.creates[uid] += 1
        self.networks[uid] = f"network-{uid}"
        return self.networks[uid]

    def notified(self, reported: int) -> None:
        """Receive the number of objects whose status has a network."""
        if reported == self._desired:
            self.complete.set()


class Networks:
    """The reconciler: finalizer, network, status."""

    def __init__(self, manager: Manager, backend: Backend) -> None:
        self._networks = manager.client.resource(Network)
        self._backend = backend
        self._reported: set[str] = set()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile the network of one object."""
        network = await self._networks.find(request)
        if network is None:
            return None
        return await finalizer(self._networks, network, _FINALIZER, Finalizing(self._apply, self._clean_up))

    async def _apply(self, network: Network) -> Result | None:
        uid = network.metadata.uid
        network_id = await self._backend.find(uid) or await self._backend.create(uid)
        if network.status is None or network.status.network_id != network_id:
            patch = MergePatch({"status": {"networkId": network_id}})
            await self._networks.patch(network.metadata.name, patch, subresource="status")
        self._reported.add(uid)
        self._backend.notified(len(self._reported))
        return None

    async def _clean_up(self, network: Network) -> Result | None:
        return None


def measure_reconcile(count: int) -> Figure:
    """Measure the networks reconciled a second, with a server in another process.

    Each object has two writes: finalizer and status.
    """
    with tempfile.TemporaryDirectory(prefix="sampan-bench-") as directory:
        data = Path(directory)
        with running(data):
            return asyncio.run(_measure_reconcile(data / "kubeconfig", max(count // 5, 1)))


async def _measure_reconcile(kubeconfig: Path, count: int) -> Figure:
    async with Client.from_config(load_config(kubeconfig, environ={})) as client:
        await _make_networks(client, count)
        backend = Backend(count)
        manager = Manager(client)
        builder = Builder(manager).for_(Network, predicates=[GenerationChanged()])
        builder.with_options(max_concurrent_reconciles=WORKERS).complete(Networks(manager, backend))
        began = time.perf_counter(), time.process_time()
        running_manager = asyncio.create_task(manager.run())
        await backend.complete.wait()
        wall_s, cpu_s = time.perf_counter() - began[0], time.process_time() - began[1]
        manager.stop()
        await running_manager
    wrong = count - sum(creates == 1 for creates in backend.creates.values())
    note = f"{count:,} networks, {WORKERS} workers, {cpu_s / count * 1e6:.0f} µs of CPU each here"
    return Figure(count / wall_s, count, errors=wrong, note=note)


async def _make_networks(client: Client, count: int) -> None:
    crd = await client.resource(_CRDS).create(crd_of(Network))
    await wait_for(client.resource(_CRDS), crd["metadata"]["name"], condition_is("Established"), timeout_s=30)
    networks = client.resource(Network)
    numbers = iter(range(count))

    async def write() -> None:
        for number in numbers:
            network = Network(spec=NetworkSpec(cidr=f"10.{number // 256}.{number % 256}.0/24"))
            network.metadata.name = f"net-{number}"
            await networks.create(network)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(_WRITERS):
            tasks.create_task(write())
