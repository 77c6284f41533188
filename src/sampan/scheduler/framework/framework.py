"""`Framework`: the plugins of one profile by extension point, and how their words become a Node."""

from collections.abc import Collection, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, cast

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle, Unschedulable
from sampan.scheduler.framework.diagnosis import FitError, counted
from sampan.scheduler.framework.plugin import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    ReservePlugin,
    ScorePlugin,
    WhatIf,
)

_NOTHING_OFF: Final[Mapping[str, Collection[str]]] = {}


class Framework:
    """The plugins of a profile, in the order in which they are asked."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        weights: Mapping[str, int],
        *,
        off: Mapping[str, Collection[str]] = _NOTHING_OFF,
    ) -> None:
        """Scores count by their `weights`; 0 when there is none, which means that the plugin does not score.

        `off`: for each extension point (`filter`, `pre_bind` …) the plugins that are not asked there.
        """
        self._off = off
        self.plugins = tuple(plugins)
        self.weights = weights
        self.pre_enqueue: list[PreEnqueuePlugin] = self._with("pre_enqueue")
        self.filters: list[FilterPlugin] = self._with("filter")
        self.scores: list[ScorePlugin] = [each for each in self._with("score") if self.weights.get(each.name, 0)]
        self.post_filters: list[PostFilterPlugin] = self._with("post_filter")
        self.reserves: list[ReservePlugin] = self._with("reserve")
        self.permits: list[PermitPlugin] = self._with("permit")
        self.pre_binds: list[PreBindPlugin] = self._with("pre_bind")
        self.binds: list[BindPlugin] = self._with("bind")
        self.post_binds: list[PostBindPlugin] = self._with("post_bind")

    def _with(self, point: str) -> list[Any]:
        off = self._off.get(point, ())
        return [cast(Any, plugin) for plugin in self.plugins if hasattr(plugin, point) and plugin.name not in off]

    def feasible(self, cycle: Cycle) -> Mask:
        """The rows where the Pod fits. Raises `FitError` when a filter knows that there is none."""
        feasible = cycle.all_alive()
        for plugin in self.filters:
            began = perf_counter() if cycle.observe else 0.0
            try:
                codes = plugin.filter(cycle)
            except Unschedulable as error:
                code = 1 if error.resolvable else 1 | UNRESOLVABLE
                cycle.rejections = {plugin.name: np.full(cycle.nodes.size, code, dtype=np.int64)}
                raise FitError(cycle.nodes.count, pre_filter=error.reason, plugins=frozenset((error.plugin,))) from None
            if cycle.observe:
                cycle.observe(plugin.name, "Filter", perf_counter() - began)
            if codes is not None:
                cycle.rejections[plugin.name] = codes
                feasible &= codes == 0
        return feasible

    def why(self, cycle: Cycle) -> FitError:
        """Of each Node the reason of the first filter that has rejected it. To be called after `feasible`."""
        left = cycle.all_alive()
        reasons: list[tuple[str, int]] = []
        names: set[str] = set()
        for plugin in self.filters:
            codes = cycle.rejections.get(plugin.name)
            if codes is None:
                continue
            said = codes[left & (codes != 0)]
            if not len(said):
                continue
            names.add(plugin.name)
            for code, count in zip(*np.unique(said, return_counts=True), strict=True):
                reasons += [(reason, int(count)) for reason in plugin.reasons(cycle, int(code) & ~UNRESOLVABLE)]
            left &= codes == 0
        return FitError(cycle.nodes.count, counted(reasons), plugins=frozenset(names))

    def resolvable(self, cycle: Cycle) -> Mask:
        """The Nodes that may have room if Pods were evicted."""
        left = cycle.all_alive()
        resolvable = np.zeros(len(left), dtype=np.bool_)
        for plugin in self.filters:
            codes = cycle.rejections.get(plugin.name)
            if codes is None:
                continue
            first = left & (codes != 0)
            resolvable |= first & ((codes & UNRESOLVABLE) == 0)
            left &= codes == 0
        return resolvable

    def against(self, cycle: Cycle, what_if: WhatIf) -> Sequence[str] | None:
        """Why the Pod would not fit a Node on which other Pods are; None when it would."""
        for plugin in self.filters:
            code = plugin.what_if(cycle, what_if)
            if code:
                return plugin.reasons(cycle, code & ~UNRESOLVABLE)
        return None

    def scored(self, cycle: Cycle, feasible: Mask) -> Ints:
        """The sum of all scores by row; what it says of rows that are not feasible does not matter."""
        total = cycle.zeros()
        for plugin in self.scores:
            began = perf_counter() if cycle.observe else 0.0
            scores = plugin.score(cycle, feasible)
            if cycle.observe:
                cycle.observe(plugin.name, "Score", perf_counter() - began)
            if scores is not None:
                weight = self.weights[plugin.name]
                total += scores if weight == 1 else scores * weight
        return total
