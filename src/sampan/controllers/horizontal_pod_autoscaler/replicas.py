"""Number of replicas that a metric proposes, as pure arithmetic.

Pods without metrics or not ready yet are assumed to have the load that makes the change smaller. If that would
reverse the direction of the change, nothing is changed.
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
"""Largest deviation of the ratio of measured to desired load from 1 that causes no change."""
_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Tolerated deviations of the load, as fractions of the desired load."""

    down: float = TOLERANCE
    up: float = TOLERANCE

    def hold(self, ratio: float) -> bool:
        """Return True if a ratio of measured to desired load is within the tolerance."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class MetricProposal(NamedTuple):
    """Desired number of replicas before the limits and behaviours apply."""

    replicas: int
    usage: int
    """Measured value in thousandths; the average if the target is an average."""
    utilization: int | None = None
    """Percentage of the requests."""


class _Load(NamedTuple):
    ratio: float
    usage: int
    utilization: int | None


_Measure = Callable[[Mapping[str, int]], _Load]
"""Computes the load of Pods from their usage."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """Input that all calculations for one autoscaler share."""

    current: int
    """`spec.replicas` of the target's scale."""
    tolerances: Tolerances
    pods: Sequence[ScaledPod]
    """The Pods that the scale selects."""
    now: dt.datetime

    def of_utilization(
        self, metrics: Mapping[str, PodMetric], resource: str, container: str, target_percent: int
    ) -> MetricProposal:
        """Compute the proposal for a utilization in percent of the requests. Raises `MetricsError`."""
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

    def of_average(self, metrics: Mapping[str, PodMetric], resource: str, target: int) -> MetricProposal:
        """Compute the proposal for an average per Pod, in thousandths. Raises `MetricsError`."""

        def measure(usage: Mapping[str, int]) -> _Load:
            average = sum(usage.values()) // len(usage)
            return _Load(average / target, average, None)

        return self._of_pods(metrics, resource, measure, lambda name: target, lambda: None)

    def of_value(self, usage: int, target: int) -> MetricProposal:
        """Compute the proposal for a single value, whatever the number of Pods. Raises `MetricsError`."""
        ratio = usage / target
        if not self.current:
            return MetricProposal(_bounded(math.ceil(ratio)), usage)
        if self.tolerances.hold(ratio):
            return MetricProposal(self.current, usage)
        if not self.pods:
            raise MetricsError(
                "unable to calculate ready pods: no pods returned by selector while calculating replica count"
            )
        ready = sum(pod.is_ready for pod in self.pods)
        return MetricProposal(_bounded(math.ceil(ratio * ready)), usage)

    def of_value_per_pod(self, usage: int, target: int, present: int) -> MetricProposal:
        """Compute the proposal for a value that `present` Pods share."""
        replicas = present
        ratio = usage / (target * present) if present else math.inf
        if not self.tolerances.hold(ratio):
            replicas = _bounded(math.ceil(usage / target))
        return MetricProposal(replicas, math.ceil(usage / present) if present else usage)

    def _of_pods(
        self,
        metrics: Mapping[str, PodMetric],
        resource: str,
        measure: _Measure,
        full: Callable[[str], int],
        prepare: Callable[[], None],
    ) -> MetricProposal:
        """Compute the proposal from the metrics of Pods.

        `full` is the assumed usage of a Pod without metrics if the load is low.
        """
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
            return MetricProposal(self.current if stays else _bounded(math.ceil(load.ratio * groups.ready)), *load[1:])
        # Be conservative: assume full usage of Pods without metrics before scaling down, and none before scaling up.
        if load.ratio < 1.0:
            usage |= {name: full(name) for name in groups.missing}
        elif load.ratio > 1.0:
            usage |= dict.fromkeys(groups.missing, 0)
        # Pods that are not ready yet will take over load, so they count as idle before scaling up.
        if rises_with_unready:
            usage |= dict.fromkeys(groups.unready, 0)
        return MetricProposal(self._careful(load.ratio, measure(usage).ratio, len(usage)), *load[1:])

    def _careful(self, before: float, after: float, count: int) -> int:
        """Return the number of replicas for the load ratio `after` of `count` Pods.

        Return the current number if `after` is within the tolerance or reverses the direction of `before`.
        """
        if self.tolerances.hold(after) or (before < 1.0 < after) or (after < 1.0 < before):
            return self.current
        replicas = _bounded(math.ceil(after * count))
        if (after < 1.0 and replicas > self.current) or (after > 1.0 and replicas < self.current):
            return self.current
        return replicas


def _bounded(replicas: int) -> int:
    return min(replicas, _INT32_MAX)
