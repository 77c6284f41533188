"""`Cycle`: one attempt to schedule one Pod, with the data that its plugins share."""

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
"""Bit of a rejection that evicting Pods cannot resolve."""


class Unschedulable(Exception):
    """A plugin rejects the Pod for all Nodes, before it filters them."""

    def __init__(self, plugin: str, reason: str, *, resolvable: bool = False) -> None:
        super().__init__(reason)
        self.plugin = plugin
        self.reason = reason
        self.resolvable = resolvable
        """True if evicting Pods might help."""


@dataclass(slots=True)
class Cycle:
    """One attempt. Plugins store data for later extension points in `state`, under their names."""

    pod: PodInfo
    cache: Cache
    columns: Columns
    state: dict[str, Any] = field(default_factory=dict)
    rejections: dict[str, Ints] = field(default_factory=dict)
    """Codes by row of each filter that has rejected any Node, in the order of the filters."""
    observe: Callable[[str, str, float], None] | None = None
    """Called with a plugin's name, the extension point and the duration in seconds; None if durations are not measured.
    """

    @property
    def nodes(self) -> NodeTable:
        """The table of all Nodes."""
        return self.cache.nodes

    def node_column(self, key: Hashable, compute: Compute) -> Ints:
        """Return values that depend only on Nodes and the key."""
        nodes = self.nodes
        return self.columns.get(key, nodes.spec_log, compute, size=nodes.size)

    def usage_column(self, key: Hashable, compute: Compute, one: ComputeOne | None = None) -> Ints:
        """Return values that depend on Nodes, their Pods' usage and the key; `one` computes a single row."""
        nodes = self.nodes
        return self.columns.get(key, nodes.usage_log, compute, size=nodes.size, one=one)

    def zeros(self) -> Ints:
        """Return a new column of zeros."""
        return np.zeros(self.nodes.size, dtype=np.int64)

    def all_alive(self) -> Mask:
        """Return a copy of the mask of rows that are alive."""
        return self.nodes.alive.copy()
