"""Metrics of an autoscaler: each proposes a number of replicas, and the highest one counts.

Source: kubernetes pkg/controller/podautoscaler/horizontal.go `computeReplicasForMetrics` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sampan.controllers.horizontal_pod_autoscaler.metrics import Metrics, MetricsError
from sampan.controllers.horizontal_pod_autoscaler.replicas import Calculation, MetricProposal
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.numbers.quantity import Format, Quantity, parse
from sampan.kinds import autoscaling_v2

_MILLI: Final = -3


_Found: TypeAlias = "tuple[str, MetricProposal, autoscaling_v2.MetricValueStatus]"
"""Name of a metric, its proposal and its current value."""
_Measurement: TypeAlias = "tuple[str, MetricProposal, autoscaling_v2.MetricStatus]"


@dataclass(frozen=True, slots=True)
class ScaleTarget:
    """The workload to scale."""

    namespace: str
    selector: str
    present: int
    """`status.replicas` of the target's scale."""
    calculation: Calculation


@dataclass(slots=True)
class CombinedMetrics:
    """Combined result of an autoscaler's metrics."""

    replicas: int = 0
    metric: str = ""
    """The metric with the highest proposal."""
    statuses: list[autoscaling_v2.MetricStatus] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Reason and message for each metric that could not be read."""
    count: int = 0
    """Number of metrics."""

    def counts_for(self, current: int) -> bool:
        """Return True if the result can be used. If some metrics are missing, it can only be used to scale up."""
        if not self.failures:
            return True
        return len(self.failures) < self.count and self.replicas >= current

    @property
    def complaint(self) -> str:
        """Combined message about all failures."""
        failed = f"{len(self.failures)} invalid out of {self.count}"
        return f"invalid metrics ({failed}), first error is: {self.failures[0][1]}"


async def measure_all(
    metrics: Metrics, target: ScaleTarget, specs: Sequence[autoscaling_v2.MetricSpec]
) -> CombinedMetrics:
    """Measure all metrics in order."""
    measured = CombinedMetrics(count=len(specs))
    for spec in specs:
        try:
            name, proposal, status = await _measure(metrics, target, spec)
        except MetricsError as error:
            kind = spec["type"]
            measured.failures.append((f"FailedGet{kind}Metric", _complaint(spec, error)))
            continue
        measured.statuses.append(status)
        if not measured.replicas or proposal.replicas > measured.replicas:
            measured.replicas, measured.metric = proposal.replicas, name
    return measured


async def _measure(metrics: Metrics, target: ScaleTarget, spec: autoscaling_v2.MetricSpec) -> _Measurement:
    """Return the metric's name, its proposal and its status. Raises `MetricsError`."""
    kind = spec["type"]
    if kind == "Resource":
        name, proposal, current = await _of_resource(metrics, target, spec["resource"], "")
        return name, proposal, {"type": kind, "resource": {"name": spec["resource"]["name"], "current": current}}
    if kind == "ContainerResource":
        source = spec["containerResource"]
        resource, container = source["name"], source["container"]
        name, proposal, current = await _of_resource(metrics, target, source, container)
        status: autoscaling_v2.ContainerResourceMetricStatus = {
            "name": resource,
            "container": container,
            "current": current,
        }
        return name, proposal, {"type": kind, "containerResource": status}
    if kind == "Pods":
        name, proposal, current = await _of_pods(metrics, target, spec["pods"])
        return name, proposal, {"type": kind, "pods": {"metric": spec["pods"]["metric"], "current": current}}
    if kind == "Object":
        name, proposal, current = await _of_object(metrics, target, spec["object"])
        metric, described = spec["object"]["metric"], spec["object"]["describedObject"]
        of_object: autoscaling_v2.ObjectMetricStatus = {
            "metric": metric,
            "describedObject": described,
            "current": current,
        }
        return name, proposal, {"type": kind, "object": of_object}
    name, proposal, current = await _of_external(metrics, target, spec["external"])
    return name, proposal, {"type": kind, "external": {"metric": spec["external"]["metric"], "current": current}}


async def _of_resource(
    metrics: Metrics,
    target: ScaleTarget,
    source: autoscaling_v2.ResourceMetricSource | autoscaling_v2.ContainerResourceMetricSource,
    container: str,
) -> _Found:
    resource = source["name"]
    desired = source["target"]
    by_average = desired.get("averageValue") is not None
    measure = "usage" if by_average else "utilization"
    try:
        try:
            found = await metrics.of_pods(target.namespace, target.selector, resource, container)
        except MetricsError as error:
            raise MetricsError(f"unable to get metrics for resource {resource}: {error}") from error
        if by_average:
            name = f"{resource} resource"
            proposal = target.calculation.of_average(found, resource, _milli(desired["averageValue"]))
        else:
            name = f"{resource} {'container ' if container else ''}resource utilization (percentage of request)"
            percent = desired["averageUtilization"]
            proposal = target.calculation.of_utilization(found, resource, container, percent)
    except MetricsError as error:
        raise MetricsError(f"failed to get {resource} {measure}: {error}") from error
    current: autoscaling_v2.MetricValueStatus = {"averageValue": _text(proposal.usage, resource)}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    return name, proposal, current


async def _of_pods(metrics: Metrics, target: ScaleTarget, source: autoscaling_v2.PodsMetricSource) -> _Found:
    metric, selector = _identity(source)
    try:
        found = await metrics.custom_of_pods(target.namespace, target.selector, metric, selector)
    except MetricsError as error:
        raise MetricsError(f"unable to get metric {metric}: {error}") from error
    proposal = target.calculation.of_average(found, "", _milli(source["target"]["averageValue"]))
    return f"pods metric {metric}", proposal, {"averageValue": _text(proposal.usage, "")}


async def _of_object(metrics: Metrics, target: ScaleTarget, source: autoscaling_v2.ObjectMetricSource) -> _Found:
    metric, selector = _identity(source)
    described = source["describedObject"]
    try:
        usage = await metrics.of_object(target.namespace, described, metric, selector)
    except MetricsError as error:
        where = f"{described['kind']} {target.namespace}/{described['name']}"
        raise MetricsError(f"unable to get metric {metric}: {where}: {error}") from error
    proposal, current = _shared(target, source["target"], usage)
    return f"{described['kind']} metric {metric}", proposal, current


async def _of_external(metrics: Metrics, target: ScaleTarget, source: autoscaling_v2.ExternalMetricSource) -> _Found:
    metric, selector = _identity(source)
    try:
        usage = sum(await metrics.external(target.namespace, metric, selector))
    except MetricsError as error:
        raise MetricsError(f"unable to get external metric {target.namespace}/{metric}/{selector}: {error}") from error
    proposal, current = _shared(target, source["target"], usage)
    return f"external metric {metric}", proposal, current


def _shared(
    target: ScaleTarget, desired: autoscaling_v2.MetricTarget, usage: int
) -> tuple[MetricProposal, autoscaling_v2.MetricValueStatus]:
    """Compare one measured value with the target, per Pod or as a whole.

    Return the proposal and the value for the status.
    """
    if desired.get("averageValue") is not None:
        each = _milli(desired["averageValue"])
        proposal = target.calculation.of_value_per_pod(usage, each, target.present)
        return proposal, {"averageValue": _text(proposal.usage, "")}
    proposal = target.calculation.of_value(usage, _milli(desired["value"]))
    return proposal, {"value": _text(proposal.usage, "")}


def _identity(
    source: autoscaling_v2.PodsMetricSource | autoscaling_v2.ObjectMetricSource | autoscaling_v2.ExternalMetricSource,
) -> tuple[str, str]:
    """Return a metric's name, and its selector as text."""
    metric = source["metric"]
    selector = metric.get("selector")
    return metric["name"], str(selector_from_label_selector(selector)) if selector else ""


def _complaint(spec: autoscaling_v2.MetricSpec, error: MetricsError) -> str:
    """Return the message about a metric that cannot be read."""
    kind = spec["type"]
    if kind == "Resource":
        return f"failed to get {spec['resource']['name']} resource metric value: {error}"
    if kind == "ContainerResource":
        return f"failed to get {spec['containerResource']['container']} container metric value: {error}"
    if kind == "External":
        return f"failed to get {spec['external']['metric']['name']} external metric value: {error}"
    return f"failed to get {kind.lower()} metric value: {error}"


def _milli(amount: Any) -> int:
    return parse(str(amount)).scaled_value(_MILLI)


def _text(milli: int, resource: str) -> str:
    """Format as the metrics server does: memory with binary suffixes."""
    return str(Quantity(milli, _MILLI, Format.BINARY_SI if resource == "memory" else Format.DECIMAL_SI))
