"""`VolumeCollector`: metrics of the volumes of claims, for /metrics.

Source: kubelet pkg/kubelet/metrics/collectors/volume_stats.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sampan.node.server.hosted import ListPods
from sampan.node.server.usage import ReadVolumeStats

_LABELS: Final = ("namespace", "persistentvolumeclaim")
_METRICS: Final = {
    "capacityBytes": ("kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume"),
    "availableBytes": ("kubelet_volume_stats_available_bytes", "Number of available bytes in the volume"),
    "usedBytes": ("kubelet_volume_stats_used_bytes", "Number of used bytes in the volume"),
    "inodes": ("kubelet_volume_stats_inodes", "Maximum number of inodes in the volume"),
    "inodesFree": ("kubelet_volume_stats_inodes_free", "Number of free inodes in the volume"),
    "inodesUsed": ("kubelet_volume_stats_inodes_used", "Number of used inodes in the volume"),
}
"""Name and help text of the metric for each field of /stats/summary."""


class VolumeCollector(Collector):
    """Collector of volume statistics. A claim that several Pods use counts once."""

    def __init__(self, registry: CollectorRegistry, pods: ListPods, volume_stats: ReadVolumeStats) -> None:
        self._pods = pods
        self._volume_stats = volume_stats
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        """Return a metric family for each field. A family without volumes is omitted."""
        found: dict[tuple[str, str], Any] = {}
        for hosted in self._pods():
            for figures in self._volume_stats(hosted.pod.metadata.uid):
                claim = figures.get("pvcRef")
                if claim is not None:
                    found.setdefault((claim["namespace"], claim["name"]), figures)
        for field, (name, text) in _METRICS.items():
            family = GaugeMetricFamily(name, text, labels=_LABELS)
            for labels, figures in found.items():
                if field in figures:
                    family.add_metric(labels, figures[field])
            if family.samples:
                yield family
