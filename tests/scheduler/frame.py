"""Cycles of the scheduler with given Nodes and Pods, without a server."""

from collections.abc import Sequence

from sampan.core.label_selectors import Selector
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.cache.columns import Columns
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import Plugin
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Node


class DefaultSelectors:
    """Returns a fixed selector."""

    def __init__(self, selector: Selector = Selector()) -> None:
        self.selector = selector

    def selector_for(self, pod: PodInfo) -> Selector:
        """Return the fixed selector for any Pod."""
        return self.selector


class Board:
    """A cache with Nodes and Pods, on which tests run plugins."""

    def __init__(self, nodes: Sequence[Node], pods: Sequence[PodInfo] = ()) -> None:
        self.cache = Cache(lambda: 0.0)
        self.columns = Columns()
        for node in nodes:
            self.cache.set_node(node)
        for pod in pods:
            self.cache.set_pod(pod)

    def cycle(self, pod: PodInfo) -> Cycle:
        """Return a new cycle for a Pod."""
        return Cycle(pod, self.cache, self.columns)

    def feasible(self, plugin: Plugin, pod: PodInfo) -> set[str]:
        """Return the Nodes that pass a filter."""
        mask = Framework([plugin], {}).feasible(self.cycle(pod))
        return {name for name, row in self.cache.nodes.rows.items() if mask[row]}

    def message(self, plugin: Plugin, pod: PodInfo) -> str:
        """Return the error message if no Node passes a filter."""
        framework, cycle = Framework([plugin], {}), self.cycle(pod)
        assert not framework.feasible(cycle).any()
        return str(framework.diagnose(cycle))

    def scores(self, plugin: Plugin, pod: PodInfo) -> dict[str, int]:
        """Return the score of each Node, all of which are feasible."""
        framework, cycle = Framework([plugin], {plugin.name: 1}), self.cycle(pod)
        total = framework.scored(cycle, self.cache.nodes.alive)
        return {name: int(total[row]) for name, row in self.cache.nodes.rows.items()}
