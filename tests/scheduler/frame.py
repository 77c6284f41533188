"""One cycle of the scheduler over Nodes and Pods that are given, without a server."""

from collections.abc import Sequence

from sampan.core.label_selectors import Selector
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.cache.columns import Columns
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import Plugin
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Node


class Fellows:
    """Answers what it is told to."""

    def __init__(self, selector: Selector = Selector()) -> None:
        self.selector = selector

    def fellows(self, pod: PodInfo) -> Selector:
        """The same for all."""
        return self.selector


class Board:
    """A cache with Nodes and Pods, and plugins that are asked about it."""

    def __init__(self, nodes: Sequence[Node], pods: Sequence[PodInfo] = ()) -> None:
        self.cache = Cache(lambda: 0.0)
        self.columns = Columns()
        for node in nodes:
            self.cache.set_node(node)
        for pod in pods:
            self.cache.set_pod(pod)

    def cycle(self, pod: PodInfo) -> Cycle:
        """An attempt for a Pod."""
        return Cycle(pod, self.cache, self.columns)

    def feasible(self, plugin: Plugin, pod: PodInfo) -> set[str]:
        """The Nodes that a filter leaves."""
        mask = Framework([plugin], {}).feasible(self.cycle(pod))
        return {name for name, row in self.cache.nodes.rows.items() if mask[row]}

    def why(self, plugin: Plugin, pod: PodInfo) -> str:
        """The message when it leaves none."""
        framework, cycle = Framework([plugin], {}), self.cycle(pod)
        assert not framework.feasible(cycle).any()
        return str(framework.why(cycle))

    def scores(self, plugin: Plugin, pod: PodInfo) -> dict[str, int]:
        """What a plugin gives each Node, all being feasible."""
        framework, cycle = Framework([plugin], {plugin.name: 1}), self.cycle(pod)
        total = framework.scored(cycle, self.cache.nodes.alive)
        return {name: int(total[row]) for name, row in self.cache.nodes.rows.items()}
