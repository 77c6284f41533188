"""How many replicas a metric asks for: pure arithmetic on metrics and Pods.

Pods without metrics, and Pods that are not ready yet, are taken for such as would make the change smaller; when that
turns the direction round, nothing is changed.
Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go, metrics/utilization.go (1.36).
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sampan.controllers.horizontal_pod_autoscaler.metrics import MetricsError, PodMetric
from sampan.controllers.horizontal_pod_autoscaler.pods import ScaledPod, group, requests_of

TOLERANCE: Final = 0.1
"""Ratios of measured to wanted load that differ less from one change nothing."""
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Tolerances:
    """By how much the load may differ from what is wanted, as a share."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    def hold(self, ratio: float) -> bool:
        """Whether a ratio of measured to wanted load is near enough to one."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Proposal(NamedTuple):
    """What a metric asks for."""

    replicas: int
    usage: int
    """What was measured, an average where the target is one; in thousandths."""
    utilization: int | None = None
    """In percent of what is requested."""


class _Load(NamedTuple):
    ratio: float
    usage: int
    utilization: int | None


_Measure = Callable[[Mapping[str, int]], _Load]
"""The load of some Pods, given what each uses."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """What all calculations for one autoscaler need."""

    current: int
    """`spec.replicas` of the target's scale."""
    tolerances: Tolerances
    pods: Sequence[ScaledPod]
    """Those that the scale selects."""
    now: dt.datetime

    def of_utilization(
        self, metrics: Mapping[str, PodMetric], resource: str, container: str, target_percent: int
    ) -> Proposal:
        """For a share of what is requested. Raises `MetricsError`."""
        requests: dict[str, int] = {}

        def measure(usage: Mapping[str, int]) -> _Load:
            known = [name for name in usage if name in requests]
            requested = sum(requests[name] for name in known)
            if not requested:
                raise MetricsError("no metrics returned matched known pods")
            used = sum(usage[name] for name in known)
            percent = used * 100 // requested
            return _Load(percent / target_percent, used // len(known), percent)

        def prepare() -> None:
            requests.update(requests_of(self.pods, container, resource))

        def full(name: str) -> int:
            return requests[name] * max(100, target_percent) // 100

        return self._of_pods(metrics, resource, measure, full, prepare)

    def of_average(self, metrics: Mapping[str, PodMetric], resource: str, target: int) -> Proposal:
        """For an amount that each Pod should use on average, in thousandths. Raises `MetricsError`."""

        def measure(usage: Mapping[str, int]) -> _Load:
            average = sum(usage.values()) // len(usage)
            return _Load(average / target, average, None)

        return self._of_pods(metrics, resource, measure, lambda name: target, lambda: None)

    def of_value(self, usage: int, target: int) -> Proposal:
        """For one number that is to be reached, whatever the number of Pods. Raises `MetricsError`."""
        ratio = usage / target
        if not self.current:
            return Proposal(_bounded(math.ceil(ratio)), usage)
        if self.tolerances.hold(ratio):
            return Proposal(self.current, usage)
        if not self.pods:
            raise MetricsError(
                "unable to calculate ready pods: no pods returned by selector while calculating replica count"
            )
        ready = sum(pod.is_ready for pod in self.pods)
        return Proposal(_bounded(math.ceil(ratio * ready)), usage)

    def of_value_per_pod(self, usage: int, target: int, present: int) -> Proposal:
        """For one number that is shared by the Pods that are `present`."""
        replicas = present
        ratio = usage / (target * present) if present else math.inf
        if not self.tolerances.hold(ratio):
            replicas = _bounded(math.ceil(usage / target))
        return Proposal(replicas, math.ceil(usage / present) if present else usage)

    def _of_pods(
        self,
        metrics: Mapping[str, PodMetric],
        resource: str,
        measure: _Measure,
        full: Callable[[str], int],
        prepare: Callable[[], None],
    ) -> Proposal:
        """`full`: what a Pod is taken to use of which nothing was measured, when the load is low."""
        if not self.pods:
            raise MetricsError("no pods returned by selector while calculating replica count")
        groups = group(self.pods, metrics, resource, self.now)
        usage = {
            name: metric.value
            for name, metric in metrics.items()
            if name not in groups.ignored and name not in groups.unready
        }
        if not usage:
            raise MetricsError("did not receive metrics for targeted pods (pods might be unready)")
        prepare()
        load = measure(usage)
        rises_with_unready = bool(groups.unready) and load.ratio > 1.0
        if not rises_with_unready and not groups.missing:
            stays = self.tolerances.hold(load.ratio)
            return Proposal(self.current if stays else _bounded(math.ceil(load.ratio * groups.ready)), *load[1:])
        if load.ratio < 1.0:
            usage |= {name: full(name) for name in groups.missing}
        elif load.ratio > 1.0:
            usage |= dict.fromkeys(groups.missing, 0)
        if rises_with_unready:
            usage |= dict.fromkeys(groups.unready, 0)
        return Proposal(self._careful(load.ratio, measure(usage).ratio, len(usage)), *load[1:])

    def _careful(self, before: float, after: float, count: int) -> int:
        """The number for the second ratio, unless it is near enough to one, or would turn the direction round."""
        if self.tolerances.hold(after) or (before < 1.0 < after) or (after < 1.0 < before):
            return self.current
        replicas = _bounded(math.ceil(after * count))
        if (after < 1.0 and replicas > self.current) or (after > 1.0 and replicas < self.current):
            return self.current
        return replicas


def _bounded(replicas: int) -> int:
    return min(replicas, _INT32_MAX)
