"""Resource usage of containers, Pods and the node, for `kubectl top` and similar clients.

Served as /metrics/resource and /stats/summary.
Source: kubelet pkg/kubelet/metrics/collectors/resource_metrics.go, kubelet/pkg/apis/stats/v1alpha1/types.go (1.36).
"""

import datetime as dt
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.core.time import format_time
from sampan.node.runtime import ContainerRecord
from sampan.node.server.hosted import HostedPod
from sampan.node.sessions import ContainerStats, InterfaceUsage

_STAT: Final = Path("/proc/stat")
_MEMORY: Final = Path("/proc/meminfo")
_BUSY: Final = (0, 1, 2, 5, 6, 7)
"""Indexes of user, nice, system, irq, softirq and steal in the line `cpu` of /proc/stat."""


ReadVolumeStats = Callable[[str], Sequence[Mapping[str, Any]]]
"""Returns the statistics of the volumes of a Pod by its uid, as /stats/summary shows them."""


def no_volume_stats(uid: str) -> Sequence[Mapping[str, Any]]:
    """Return no statistics, for nodes without CSI drivers."""
    return ()


@dataclass(frozen=True, slots=True)
class ContainerUsage:
    """Usage of a container, and its start time."""

    name: str
    usage: ContainerStats
    started_at: dt.datetime


@dataclass(frozen=True, slots=True)
class PodUsage:
    """Usage of a Pod: the sum of its containers."""

    hosted: HostedPod
    containers: tuple[ContainerUsage, ...]
    interfaces: tuple[InterfaceUsage, ...] = ()
    """Network interfaces that only this Pod uses, the default one first."""

    @property
    def total(self) -> ContainerStats:
        """Sum over the containers."""
        used = [each.usage for each in self.containers]
        return ContainerStats(
            sum(each.cpu_s for each in used),
            sum(each.memory_bytes for each in used),
            rss_bytes=_sum([each.rss_bytes for each in used]),
            total_memory_bytes=_sum([each.total_memory_bytes for each in used]),
            measured_s=max((each.measured_s for each in used), default=0.0),
        )


def _sum(values: Sequence[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None


def host_usage() -> ContainerStats | None:
    """Return the usage of the whole machine; None if it cannot be read."""
    try:
        ticks = [int(text) for text in _STAT.read_text().split("\n", 1)[0].split()[1:]]
        lines = (line.split() for line in _MEMORY.read_text().splitlines())
        kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
        busy_s = sum(ticks[index] for index in _BUSY) / os.sysconf("SC_CLK_TCK")
        return ContainerStats(busy_s, (kilobytes["MemTotal"] - kilobytes["MemAvailable"]) * 1024)
    except (OSError, ValueError, LookupError):
        return None


async def pod_usages(pods: Iterable[HostedPod], *, with_networks: bool = False) -> list[PodUsage]:
    """Return the usage of all Pods for which the runtime has statistics."""
    found = []
    for hosted in pods:
        uid = hosted.pod.metadata.uid
        usages = await hosted.runtime.usage(uid)
        if usages:
            apart = with_networks and not hosted.pod.spec.host_network
            interfaces = tuple(await hosted.runtime.network_usage(uid)) if apart else ()
            found.append(PodUsage(hosted, tuple(_containers(usages, hosted.runtime.containers(uid))), interfaces))
    return found


def _containers(
    usages: Mapping[str, ContainerStats], records: Mapping[str, ContainerRecord]
) -> Iterator[ContainerUsage]:
    for name, usage in usages.items():
        record = records.get(name)
        if record is not None and record.is_running:
            yield ContainerUsage(name, usage, record.started_at)


def resource_metrics(pods: list[PodUsage] | None, node: ContainerStats | None, now: dt.datetime) -> bytes:
    """Return the Prometheus text of /metrics/resource. `pods`: None if their usage could not be read."""
    text = _Text(int(now.timestamp() * 1000))
    used, error = ([], 1) if pods is None else (pods, 0)
    inner = [(_labels(pod.hosted, container.name), container) for pod in used for container in pod.containers]
    outer = [(_labels(pod.hosted), pod.total) for pod in used]
    cpu, memory = "Cumulative cpu time consumed by the {} in core-seconds", "Current working set of the {} in bytes"
    text.family("container_cpu_usage_seconds_total", "counter", cpu.format("container"))
    text.values([(labels, each.usage.cpu_s, each.usage.measured_s) for labels, each in inner])
    text.family("container_memory_working_set_bytes", "gauge", memory.format("container"))
    text.values([(labels, each.usage.memory_bytes, each.usage.measured_s) for labels, each in inner])
    text.family("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds")
    text.values([(labels, each.started_at.timestamp(), 0) for labels, each in inner], timed=False)
    text.family("node_cpu_usage_seconds_total", "counter", cpu.format("node"))
    text.values([("", node.cpu_s, node.measured_s)] if node is not None else [])
    text.family("node_memory_working_set_bytes", "gauge", memory.format("node"))
    text.values([("", node.memory_bytes, node.measured_s)] if node is not None else [])
    text.family("pod_cpu_usage_seconds_total", "counter", cpu.format("pod"))
    text.values([(labels, total.cpu_s, total.measured_s) for labels, total in outer])
    text.family("pod_memory_working_set_bytes", "gauge", memory.format("pod"))
    text.values([(labels, total.memory_bytes, total.measured_s) for labels, total in outer])
    for name in ("resource_scrape_error", "scrape_error"):
        text.family(name, "gauge", "1 if there was an error while getting container metrics, 0 otherwise")
        text.values([("", error, 0)], timed=False)
    return text.finished()


class _Text:
    """Text in the exposition format. A metric family without values is omitted."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._lines: list[str] = []
        self._name = self._head = ""

    def family(self, name: str, kind: str, what: str) -> None:
        """Start a metric family. The following values belong to it."""
        self._name, self._head = name, f"# HELP {name} {what}\n# TYPE {name} {kind}\n"

    def values(self, values: list[tuple[str, float, float]], *, timed: bool = True) -> None:
        """Add labels, values and the times of their measurement in seconds (0: now).

        A rate is wrong if a value that was measured earlier has the time of the response.
        """
        if values:
            self._lines.append(self._head)
        for labels, value, measured_s in values:
            when = f" {round(measured_s * 1000) or self._now_ms}" if timed else ""
            self._lines.append(f"{self._name}{labels} {value!r}{when}\n")

    def finished(self) -> bytes:
        """Return the whole text."""
        return "".join(self._lines).encode()


def _labels(hosted: HostedPod, container: str = "") -> str:
    """Return the labels. Names of Pods, namespaces and containers need no escapes."""
    metadata = hosted.pod.metadata
    inner = f'container="{container}",' if container else ""
    return f'{{{inner}namespace="{metadata.namespace}",pod="{metadata.name}"}}'


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Usage of a node, and its start time."""

    name: str
    usage: ContainerStats | None
    started_at: dt.datetime


def summary(
    pods: list[PodUsage], node: NodeUsage, now: dt.datetime, volumes: ReadVolumeStats = no_volume_stats
) -> dict[str, Any]:
    """Return the JSON of /stats/summary."""
    time = format_time(now)
    shown = {"nodeName": node.name, "startTime": format_time(node.started_at), **_stats(node.usage, time)}
    return {"node": shown, "pods": [_pod(pod, time, volumes) for pod in pods]}


def _pod(pod: PodUsage, time: str, volumes: ReadVolumeStats) -> dict[str, Any]:
    metadata = pod.hosted.pod.metadata
    found = volumes(metadata.uid)
    started = min((each.started_at for each in pod.containers), default=None)
    return {
        "podRef": {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid},
        "startTime": format_time(started) if started is not None else time,
        "containers": [
            {"name": each.name, "startTime": format_time(each.started_at), **_stats(each.usage, time)}
            for each in pod.containers
        ],
        **_stats(pod.total, time),
        **_network(pod.interfaces, time),
        **({"volume": list(found)} if found else {}),
    }


def _stats(usage: ContainerStats | None, time: str) -> dict[str, Any]:
    if usage is None:
        return {}
    if usage.measured_s:
        time = format_time(dt.datetime.fromtimestamp(usage.measured_s, dt.UTC))
    total = usage.memory_bytes if usage.total_memory_bytes is None else usage.total_memory_bytes
    memory = {"time": time, "usageBytes": total, "workingSetBytes": usage.memory_bytes}
    if usage.rss_bytes is not None:
        memory["rssBytes"] = usage.rss_bytes
    return {"cpu": {"time": time, "usageCoreNanoSeconds": int(usage.cpu_s * 1e9)}, "memory": memory}


def _network(interfaces: Sequence[InterfaceUsage], time: str) -> dict[str, Any]:
    if not interfaces:
        return {}
    shown = [
        {
            "name": each.name,
            "rxBytes": each.received_bytes,
            "rxErrors": each.received_errors,
            "txBytes": each.sent_bytes,
            "txErrors": each.sent_errors,
        }
        for each in interfaces
    ]
    return {"network": {"time": time, **shown[0], "interfaces": shown}}
