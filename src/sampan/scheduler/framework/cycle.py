"""`Cycle`: one attempt to find a Node for one Pod; what its plugins share."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.cache.columns import Columns, Compute, ComputeOne
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.pod_info import PodInfo

UNRESOLVABLE: Final = 1 << 62
"""The bit of a rejection that no eviction of Pods would help against."""


class Unschedulable(Exception):
    """A plugin knows before any Node is looked at that the Pod fits nowhere."""

    def __init__(self, plugin: str, reason: str, *, resolvable: bool = False) -> None:
        super().__init__(reason)
        self.plugin = plugin
        self.reason = reason
        self.resolvable = resolvable
        """Whether the eviction of Pods might help."""


@dataclass(slots=True)
class Cycle:
    """One attempt. Plugins keep in `state`, under their names, what they want to find again."""

    pod: PodInfo
    cache: Cache
    columns: Columns
    state: dict[str, Any] = field(default_factory=dict)
    rejections: dict[str, Ints] = field(default_factory=dict)
    """What each filter that rejects anything said of each row, in the order of the filters."""
    observe: Callable[[str, str, float], None] | None = None
    """Told how long plugins take: name, extension point, seconds. None: nobody asks."""

    @property
    def nodes(self) -> NodeTable:
        """All Nodes."""
        return self.cache.nodes

    def node_column(self, key: Hashable, compute: Compute) -> Ints:
        """Values that depend on nothing but Nodes and the key."""
        nodes = self.nodes
        return self.columns.get(key, nodes.spec_log, compute, size=nodes.size)

    def usage_column(self, key: Hashable, compute: Compute, one: ComputeOne | None = None) -> Ints:
        """Values that depend on Nodes, on what their Pods use, and on the key; `one` gives those of a single row."""
        nodes = self.nodes
        return self.columns.get(key, nodes.usage_log, compute, size=nodes.size, one=one)

    def zeros(self) -> Ints:
        """A new column."""
        return np.zeros(self.nodes.size, dtype=np.int64)

    def all_alive(self) -> Mask:
        """A copy of the rows that are Nodes."""
        return self.nodes.alive.copy()
