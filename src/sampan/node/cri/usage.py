"""`CriUsage`: usage of containers and networks, from CRI's statistics.

Source: cri-api pkg/apis/runtime/v1/api.proto ContainerStats, PodSandboxStats (1.36).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.container import CONTAINER_NAME
from sampan.node.cri.configuration.sandbox import POD_UID
from sampan.node.cri.errors import CriError, RuntimeUnavailable
from sampan.node.cri.pods import CriPods
from sampan.node.sessions import ContainerStats, InterfaceUsage
from sampan.rpc.proto_files import AnyMessage

_STATS_S: Final = 1.0


class StatsClient(Protocol):
    """Calls for the statistics of sandboxes, as `CriClient` has them."""

    async def list_pod_sandbox_stats(self) -> Sequence[AnyMessage]: ...

    async def pod_sandbox_stats(self, sandbox_id: str) -> AnyMessage: ...


class CriUsage:
    """Usage of a node's Pods, read at most once a second for all of them."""

    def __init__(self, client: CriClient, pods: CriPods) -> None:
        self._client = client
        self._pods = pods
        self._stats: tuple[float, dict[str, dict[str, ContainerStats]]] = (0.0, {})
        self._network_stats: tuple[float, dict[str, tuple[InterfaceUsage, ...]]] = (0.0, {})

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        """Return CPU time and working set of the Pod's running containers."""
        now = asyncio.get_running_loop().time()
        if now - self._stats[0] > _STATS_S:
            found: dict[str, dict[str, ContainerStats]] = {}
            for each in await self._client.list_container_stats():
                labels, container = each.attributes.labels, each.attributes.id
                known = self._pods.get(labels.get(POD_UID, ""))
                run = known.runs.get(container) if known is not None else None
                # The runtime also lists containers that have ended, with the name of their successor.
                if run is None or run.record is None or not run.record.is_running:
                    continue
                found.setdefault(labels.get(POD_UID, ""), {})[labels.get(CONTAINER_NAME, "")] = container_usage(each)
            self._stats = (now, found)
        return self._stats[1].get(uid, {})

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        """Return the traffic of the Pod's network interfaces; none if the runtime does not measure it."""
        now = asyncio.get_running_loop().time()
        if now - self._network_stats[0] > _STATS_S:
            self._network_stats = (now, await read_networks(self._client, self._running_sandboxes()))
        return self._network_stats[1].get(uid, ())

    def _running_sandboxes(self) -> Mapping[str, str]:
        """Return the sandboxes of Pods by their UIDs."""
        newest = {pod.uid: pod.newest for pod in self._pods}
        return {uid: sandbox.id for uid, sandbox in newest.items() if sandbox is not None and sandbox.is_ready}


def container_usage(stats: AnyMessage) -> ContainerStats:
    """Convert the statistics of the runtime. CPU time is in seconds."""
    cpu, memory, disk = stats.cpu, stats.memory, stats.writable_layer
    return ContainerStats(
        cpu.usage_core_nano_seconds.value / 1e9,
        int(memory.working_set_bytes.value),
        int(disk.used_bytes.value),
        int(disk.inodes_used.value),
        int(memory.rss_bytes.value) if memory.HasField("rss_bytes") else None,
        int(memory.usage_bytes.value) if memory.HasField("usage_bytes") else None,
        cpu.timestamp / 1e9,
    )


async def read_networks(client: StatsClient, sandboxes: Mapping[str, str]) -> dict[str, tuple[InterfaceUsage, ...]]:
    """Return the traffic of Pods by their UIDs; nothing from runtimes that do not measure it.

    `sandboxes`: ids of the running sandboxes by the UIDs of their Pods. containerd 1.6 refuses the whole list while any
    sandbox does not run, such as that of a Pod that has ended. They are then read one by one. Raises `CriError` if the
    runtime does not respond.
    """
    try:
        listed = await client.list_pod_sandbox_stats()
        return {each.attributes.labels.get(POD_UID, ""): tuple(interface_usages(each)) for each in listed}
    except RuntimeUnavailable:
        raise
    except CriError as error:
        if error.is_unimplemented:
            return {}
    found = {}
    for uid, sandbox in sandboxes.items():
        try:
            found[uid] = tuple(interface_usages(await client.pod_sandbox_stats(sandbox)))
        except RuntimeUnavailable:
            raise
        except CriError:
            continue  # it has ended meanwhile
    return found


def interface_usages(stats: AnyMessage) -> Iterator[InterfaceUsage]:
    """Yield the traffic of a sandbox's interfaces, the default one first."""
    network = stats.linux.network
    for each in (network.default_interface, *network.interfaces):
        if each.name:
            yield InterfaceUsage(
                each.name,
                int(each.rx_bytes.value),
                int(each.rx_errors.value),
                int(each.tx_bytes.value),
                int(each.tx_errors.value),
            )
