"""NodePorts: only one Pod can use a port of a Node.

Source: plugins/nodeports/node_ports.go, framework/types.go (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.constraints import HostPort
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo

ANY_ADDRESS = "0.0.0.0"


def conflict(one: Iterable[HostPort], other: Iterable[HostPort]) -> bool:
    """Return True if two Pods use the same port of the same address."""
    taken = tuple(other)
    return any(
        protocol == their_protocol
        and port == their_port
        and (ANY_ADDRESS in (address, their_address) or address == their_address)
        for protocol, address, port in one
        for their_protocol, their_address, their_port in taken
    )


def _frees(pod: PodInfo, old: Any, new: Any) -> bool:
    return conflict(pod.constraints.host_ports, old.constraints.host_ports)


class NodePorts:
    """Filters Nodes by ports in use."""

    name: ClassVar[str] = "NodePorts"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_DELETED: _frees,
        ClusterEvent.NODE_ADDED: always,
    }

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes where a port is in use."""
        desired, nodes = cycle.pod.constraints.host_ports, cycle.nodes
        if not desired:
            return None

        def taken(rows: Rows) -> Ints:
            found = [
                any(conflict(desired, pod.constraints.host_ports) for pod in nodes.pods[row].values()) for row in rows
            ]
            return np.array(found, dtype=np.int64)

        return cycle.usage_column((self.name, desired), taken)

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message."""
        return ("node(s) didn't have free ports for the requested pod ports",)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return 1 if a port would be in use."""
        desired = cycle.pod.constraints.host_ports
        if not desired:
            return 0
        removed = {pod.uid for pod in what_if.removed}
        remaining = [pod for uid, pod in cycle.nodes.pods[what_if.row].items() if uid not in removed]
        return int(any(conflict(desired, pod.constraints.host_ports) for pod in (*remaining, *what_if.added)))
