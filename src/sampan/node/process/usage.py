"""`UsageMeter`: resource usage of running containers, read from /proc at most once a second for all of them.

Memory is the resident memory of the processes. A page that several processes share counts once for each of them.
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.clock import monotonic, unix_time
from sampan.node.process.proc import ProcessStat, family, processes
from sampan.node.sessions import ContainerStats

_FRESH_S: Final = 1.0


class UsageMeter:
    """Meter of one runtime."""

    def __init__(self) -> None:
        self._read_at = -_FRESH_S
        self._read_s = 0.0
        self._table: list[ProcessStat] = []
        self._cpu_s: dict[int, float] = {}

    def usage(self, pids: Mapping[str, int]) -> dict[str, ContainerStats]:
        """Return the usage by name. `pids`: first process of each container. CPU time never decreases."""
        now = monotonic()
        if now - self._read_at >= _FRESH_S:
            self._table = processes()
            self._read_at = now
            self._read_s = unix_time()
        found = {}
        for name, pid in pids.items():
            members = family(self._table, pid)
            if members:
                cpu_s = max(self._cpu_s.get(pid, 0.0), sum(each.cpu_s for each in members))
                self._cpu_s[pid] = cpu_s
                memory = sum(each.memory_bytes for each in members)
                found[name] = ContainerStats(cpu_s, memory, rss_bytes=memory, measured_s=self._read_s)
        return found

    def forget(self, pid: int) -> None:
        """Drop the counters of a container that has ended."""
        self._cpu_s.pop(pid, None)
