"""Metrics of containers with cAdvisor's names, for the usual dashboards of Prometheus. Served as /metrics/cadvisor.

Only what the runtime reports is served: no metrics of packets, block devices or throttling.
Source: cadvisor lib/metrics/prometheus.go; kubelet pkg/kubelet/server/server.go `containerPrometheusLabelsFunc` (1.36).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.node.server.usage import ContainerUsage, PodUsage
from sampan.node.sessions import ContainerStats, InterfaceUsage

_LABELS: Final = ("container", "id", "image", "name", "namespace", "pod")


@dataclass(frozen=True, slots=True)
class _Row:
    """Usage of a container, a Pod or the node, with its labels."""

    labels: Mapping[str, str]
    usage: ContainerStats
    started_s: float | None = None


_Value = Callable[[_Row], float | None]
_FAMILIES: Final[tuple[tuple[str, str, str, Mapping[str, str], _Value], ...]] = (
    (
        "container_cpu_usage_seconds_total",
        "counter",
        "Cumulative cpu time consumed in seconds.",
        {"cpu": "total"},
        lambda row: row.usage.cpu_s,
    ),
    (
        "container_memory_working_set_bytes",
        "gauge",
        "Current working set in bytes.",
        {},
        lambda row: row.usage.memory_bytes,
    ),
    (
        "container_memory_rss",
        "gauge",
        "Size of RSS in bytes.",
        {},
        lambda row: row.usage.rss_bytes,
    ),
    (
        "container_memory_usage_bytes",
        "gauge",
        "Current memory usage in bytes, including all memory regardless of when it was accessed",
        {},
        lambda row: row.usage.total_memory_bytes,
    ),
    (
        "container_fs_usage_bytes",
        "gauge",
        "Number of bytes that are consumed by the container on this filesystem.",
        {"device": ""},
        lambda row: row.usage.disk_bytes if row.labels["container"] else None,
    ),
    (
        "container_start_time_seconds",
        "gauge",
        "Start time of the container since unix epoch in seconds.",
        {},
        lambda row: row.started_s,
    ),
)

_TRAFFIC: Final[tuple[tuple[str, str, Callable[[InterfaceUsage], int]], ...]] = (
    ("container_network_receive_bytes_total", "bytes received", lambda each: each.received_bytes),
    ("container_network_receive_errors_total", "errors encountered while receiving", lambda each: each.received_errors),
    ("container_network_transmit_bytes_total", "bytes transmitted", lambda each: each.sent_bytes),
    ("container_network_transmit_errors_total", "errors encountered while transmitting", lambda each: each.sent_errors),
)


def cadvisor_metrics(pods: Iterable[PodUsage], node: ContainerStats | None) -> bytes:
    """Return the Prometheus text. `node`: usage of the machine; None if it cannot be read."""
    pods = list(pods)
    rows = [*_node_rows(node), *(row for pod in pods for row in _pod_rows(pod))]
    lines = []
    for name, kind, what, more, value in _FAMILIES:
        lines += [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]
        for row in rows:
            number = value(row)
            if number is not None:
                lines.append(f"{name}{{{_text({**row.labels, **more})}}} {number!r}")
    lines += _networks(pods)
    lines += _machine()
    return "\n".join([*lines, ""]).encode()


def _node_rows(node: ContainerStats | None) -> Iterator[_Row]:
    if node is not None:
        yield _Row(_labels(id="/"), node)


def _pod_rows(pod: PodUsage) -> Iterator[_Row]:
    metadata = pod.hosted.pod.metadata
    group = _group(metadata.uid)
    names = {"namespace": metadata.namespace, "pod": metadata.name}
    yield _Row(_labels(id=group, **names), pod.total)
    records = pod.hosted.runtime.containers(metadata.uid)
    for each in pod.containers:
        record = records.get(each.name)
        id = "" if record is None else record.id.rpartition("/")[2]
        labels = _labels(id=f"{group}/{id}", name=id, container=each.name, image=_image(pod, each), **names)
        yield _Row(labels, each.usage, each.started_at.timestamp())


def _networks(pods: Sequence[PodUsage]) -> Iterator[str]:
    """Yield the traffic of Pods. As in cAdvisor it belongs to the sandbox, so no label names a container."""
    for name, what, value in _TRAFFIC:
        yield f"# HELP {name} Cumulative count of {what}"
        yield f"# TYPE {name} counter"
        for pod in pods:
            metadata = pod.hosted.pod.metadata
            labels = _labels(id=_group(metadata.uid), namespace=metadata.namespace, pod=metadata.name)
            for each in pod.interfaces:
                yield f"{name}{{{_text({**labels, 'interface': each.name})}}} {value(each)!r}"


def _group(uid: str) -> str:
    return f"/kubepods/pod{uid}"


def _image(pod: PodUsage, container: ContainerUsage) -> str:
    containers = (*pod.hosted.pod.spec.init_containers, *pod.hosted.pod.spec.containers)
    return next((each.image for each in containers if each.name == container.name), "")


def _labels(**labels: str) -> Mapping[str, str]:
    return {name: labels.get(name, "") for name in _LABELS}


def _text(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _machine() -> list[str]:
    """Return the size of the machine."""
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return [
        "# HELP machine_cpu_cores Number of logical CPU cores.",
        "# TYPE machine_cpu_cores gauge",
        f"machine_cpu_cores {cores}",
        "# HELP machine_memory_bytes Amount of memory installed on the machine.",
        "# TYPE machine_memory_bytes gauge",
        f"machine_memory_bytes {memory}",
    ]
