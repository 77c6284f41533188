"""Metrics of an autoscaler: each proposes a number of replicas, and the highest one counts.

Source: kubernetes pkg/controller/podautoscaler/horizontal.go `computeReplicasForMetrics` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.controllers.horizontal_pod_autoscaler.metrics import Metrics, MetricsError
from sampan.controllers.horizontal_pod_autoscaler.replicas import Calculation, Proposal
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.numbers.quantity import Format, Quantity, parse
from sampan.resource import Object

_MILLI: Final = -3
_FIELDS: Final = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


@dataclass(frozen=True, slots=True)
class ScaleTarget:
    """The workload to scale."""

    namespace: str
    selector: str
    present: int
    """`status.replicas` of the target's scale."""
    calculation: Calculation


@dataclass(slots=True)
class Measured:
    """Combined result of an autoscaler's metrics."""

    replicas: int = 0
    metric: str = ""
    """The metric with the highest proposal."""
    statuses: list[Object] = field(default_factory=list)
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


async def measure_all(metrics: Metrics, target: ScaleTarget, specs: Sequence[Object]) -> Measured:
    """Measure all metrics in order."""
    measured = Measured(count=len(specs))
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


async def _measure(metrics: Metrics, target: ScaleTarget, spec: Object) -> tuple[str, Proposal, Object]:
    """Return the metric's name, its proposal and its status. Raises `MetricsError`."""
    kind = spec["type"]
    source: Object = spec[_FIELDS[kind]]
    if kind in ("Resource", "ContainerResource"):
        name, proposal, status = await _of_resource(metrics, target, source)
    elif kind == "Pods":
        name, proposal, status = await _of_pods(metrics, target, source)
    elif kind == "Object":
        name, proposal, status = await _of_object(metrics, target, source)
    else:
        name, proposal, status = await _of_external(metrics, target, source)
    return name, proposal, {"type": kind, _FIELDS[kind]: status}


_Found = tuple[str, Proposal, Object]


async def _of_resource(metrics: Metrics, target: ScaleTarget, source: Object) -> _Found:
    resource, container = source["name"], source.get("container", "")
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
    current: Object = {"averageValue": _text(proposal.usage, resource)}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    named = {"name": resource, "container": container} if container else {"name": resource}
    return name, proposal, {**named, "current": current}


async def _of_pods(metrics: Metrics, target: ScaleTarget, source: Object) -> _Found:
    metric, selector = _identity(source)
    try:
        found = await metrics.custom_of_pods(target.namespace, target.selector, metric, selector)
    except MetricsError as error:
        raise MetricsError(f"unable to get metric {metric}: {error}") from error
    proposal = target.calculation.of_average(found, "", _milli(source["target"]["averageValue"]))
    return f"pods metric {metric}", proposal, _status(source, "averageValue", proposal)


async def _of_object(metrics: Metrics, target: ScaleTarget, source: Object) -> _Found:
    metric, selector = _identity(source)
    described: Object = source["describedObject"]
    try:
        usage = await metrics.of_object(target.namespace, described, metric, selector)
    except MetricsError as error:
        where = f"{described['kind']} {target.namespace}/{described['name']}"
        raise MetricsError(f"unable to get metric {metric}: {where}: {error}") from error
    proposal, field_name = _shared(target, source["target"], usage)
    status = {"describedObject": described, **_status(source, field_name, proposal)}
    return f"{described['kind']} metric {metric}", proposal, status


async def _of_external(metrics: Metrics, target: ScaleTarget, source: Object) -> _Found:
    metric, selector = _identity(source)
    try:
        usage = sum(await metrics.external(target.namespace, metric, selector))
    except MetricsError as error:
        raise MetricsError(f"unable to get external metric {target.namespace}/{metric}/{selector}: {error}") from error
    proposal, field_name = _shared(target, source["target"], usage)
    return f"external metric {metric}", proposal, _status(source, field_name, proposal)


def _shared(target: ScaleTarget, desired: Object, usage: int) -> tuple[Proposal, str]:
    """Compare one measured value with the target, per Pod or as a whole.

    Return the proposal, and the name of the value's field in the status.
    """
    if desired.get("averageValue") is not None:
        each = _milli(desired["averageValue"])
        return target.calculation.of_value_per_pod(usage, each, target.present), "averageValue"
    return target.calculation.of_value(usage, _milli(desired["value"])), "value"


def _identity(source: Object) -> tuple[str, str]:
    """Return a metric's name, and its selector as text."""
    metric = source["metric"]
    selector = metric.get("selector")
    return metric["name"], str(selector_from_label_selector(selector)) if selector else ""


def _status(source: Object, field_name: str, proposal: Proposal) -> Object:
    return {"metric": source["metric"], "current": {field_name: _text(proposal.usage, "")}}


def _complaint(spec: Object, error: MetricsError) -> str:
    """Return the message about a metric that cannot be read."""
    kind = spec["type"]
    source = spec[_FIELDS[kind]]
    if kind == "Resource":
        return f"failed to get {source['name']} resource metric value: {error}"
    if kind == "ContainerResource":
        return f"failed to get {source['container']} container metric value: {error}"
    if kind == "External":
        return f"failed to get {source['metric']['name']} external metric value: {error}"
    return f"failed to get {_FIELDS[kind]} metric value: {error}"


def _milli(amount: Any) -> int:
    return parse(str(amount)).scaled_value(_MILLI)


def _text(milli: int, resource: str) -> str:
    """Format as the metrics server does: memory with binary suffixes."""
    return str(Quantity(milli, _MILLI, Format.BINARY_SI if resource == "memory" else Format.DECIMAL_SI))
