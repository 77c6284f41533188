"""Process metrics that Go's client has and prometheus_client lacks. Linux only.

Source: client_golang prometheus/process_collector_procfsenabled.go (1.23).
"""

import resource
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

_NETSTAT: Final = Path("/proc/self/net/netstat")
_UNLIMITED: Final = 2.0**64


class ProcessMetrics:
    """Prometheus collector of this process. `netstat`: file with the traffic counters of the network namespace."""

    def __init__(self, netstat: Path = _NETSTAT) -> None:
        self._netstat = netstat
        self.tasks = 0
        """Tasks of the event loop. The caller sets it on the loop, because registries are read in a thread."""

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        yield GaugeMetricFamily(
            "process_virtual_memory_max_bytes",
            "Bytes of virtual memory that the process may have.",
            _UNLIMITED if limit == resource.RLIM_INFINITY else limit,
        )
        yield GaugeMetricFamily("asyncio_tasks", "Tasks of the event loop that have not ended.", self.tasks)
        octets = self._octets()
        for name, text, key in (
            ("process_network_receive_bytes_total", "Bytes received over the network.", "InOctets"),
            ("process_network_transmit_bytes_total", "Bytes sent over the network.", "OutOctets"),
        ):
            if key in octets:
                yield CounterMetricFamily(name, text, octets[key])

    def _octets(self) -> dict[str, int]:
        """Return the counters of the line IpExt, or nothing if there is no such file."""
        try:
            lines = self._netstat.read_text().splitlines()
        except OSError:
            return {}
        names, values = ([each.split()[1:] for each in lines if each.startswith("IpExt:")] + [[], []])[:2]
        return dict(zip(names, map(int, values), strict=False))
