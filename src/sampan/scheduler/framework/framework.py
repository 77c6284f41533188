"""`Framework`: the plugins of one profile by extension point, and the combination of their results."""

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
    """The plugins of a profile, in the order in which they are called."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        weights: Mapping[str, int],
        *,
        off: Mapping[str, Collection[str]] = _NOTHING_OFF,
    ) -> None:
        """Create the framework. `weights` are the weights of the scores; a plugin with weight 0 does not score.

        `off` contains the disabled plugins for each extension point (`filter`, `pre_bind` …).
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
        """Return the rows where the Pod fits. Raises `FitError` if a filter rejects all of them at once."""
        feasible = cycle.all_alive()
        for plugin in self.filters:
            start = perf_counter() if cycle.observe else 0.0
            try:
                codes = plugin.filter(cycle)
            except Unschedulable as error:
                code = 1 if error.resolvable else 1 | UNRESOLVABLE
                cycle.rejections = {plugin.name: np.full(cycle.nodes.size, code, dtype=np.int64)}
                raise FitError(cycle.nodes.count, pre_filter=error.reason, plugins=frozenset((error.plugin,))) from None
            if cycle.observe:
                cycle.observe(plugin.name, "Filter", perf_counter() - start)
            if codes is not None:
                cycle.rejections[plugin.name] = codes
                feasible &= codes == 0
        return feasible

    def diagnose(self, cycle: Cycle) -> FitError:
        """Return the error with the first rejection of each Node. Call it after `feasible`."""
        left = cycle.all_alive()
        reasons: list[tuple[str, int]] = []
        names: set[str] = set()
        for plugin in self.filters:
            codes = cycle.rejections.get(plugin.name)
            if codes is None:
                continue
            rejections = codes[left & (codes != 0)]
            if not len(rejections):
                continue
            names.add(plugin.name)
            for code, count in zip(*np.unique(rejections, return_counts=True), strict=True):
                reasons += [(reason, int(count)) for reason in plugin.reasons(cycle, int(code) & ~UNRESOLVABLE)]
            left &= codes == 0
        return FitError(cycle.nodes.count, counted(reasons), plugins=frozenset(names))

    def resolvable(self, cycle: Cycle) -> Mask:
        """Return the Nodes where evicting Pods might help."""
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
        """Return the reasons why the Pod does not fit a Node with changed Pods; None if the Pod fits."""
        for plugin in self.filters:
            code = plugin.what_if(cycle, what_if)
            if code:
                return plugin.reasons(cycle, code & ~UNRESOLVABLE)
        return None

    def scored(self, cycle: Cycle, feasible: Mask) -> Ints:
        """Return the weighted sum of all scores by row. Values of infeasible rows are undefined."""
        total = cycle.zeros()
        for plugin in self.scores:
            start = perf_counter() if cycle.observe else 0.0
            scores = plugin.score(cycle, feasible)
            if cycle.observe:
                cycle.observe(plugin.name, "Score", perf_counter() - start)
            if scores is not None:
                weight = self.weights[plugin.name]
                total += scores if weight == 1 else scores * weight
        return total
