"""Pods in the form that the autoscaler reads: their readiness and their requests."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from sampan.component_base.views import PodStatus
from sampan.controllers.horizontal_pod_autoscaler.metrics import MetricsError, PodMetric
from sampan.core.numbers.quantity import parse
from sampan.core.time import parse_time
from sampan.resource import ObjectMeta
from sampan.resource.view import view_decoder

CPU: Final = "cpu"
MILLI: Final = -3
CPU_INITIALIZATION: Final = dt.timedelta(minutes=5)
"""Time after its start in which a Pod's CPU counts only if it was ready during the whole measurement."""
INITIAL_READINESS: Final = dt.timedelta(seconds=30)
"""A Pod whose readiness last changed within this time after its start counts as never ready."""


class RequestedResources(msgspec.Struct, frozen=True, gc=False):
    """Quantities that utilization is a percentage of."""

    requests: dict[str, str | int | float] = {}


class ContainerRequests(msgspec.Struct, rename="camel", gc=False):
    """Part of a Pod that utilization is computed from."""

    name: str = ""
    restart_policy: str = ""
    resources: RequestedResources = RequestedResources()


class Spec(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """The parts of a Pod's spec with requests."""

    containers: list[ContainerRequests] = []
    init_containers: list[ContainerRequests] = []
    resources: RequestedResources = RequestedResources()


class ScaledPod(msgspec.Struct):
    """A Pod of a target with the fields that the autoscaler reads."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: Spec = Spec()
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    @property
    def name(self) -> str:
        """Name of the Pod."""
        return self.metadata.name

    @property
    def is_ready(self) -> bool:
        """True if the Pod runs and is ready."""
        return self.status.phase == "Running" and any(
            each.type == "Ready" and each.status == "True" for each in self.status.conditions
        )


_decoder: Final = view_decoder(ScaledPod)


def decode_pod(raw: bytes) -> ScaledPod:
    """Decode a Pod from JSON."""
    return _decoder(raw)


@dataclass(slots=True)
class Groups:
    """Pods grouped by the use of their metrics: names, except for `ready`, which is a count."""

    ready: int = 0
    unready: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)


def group(pods: Iterable[ScaledPod], metrics: Mapping[str, PodMetric], resource: str, now: dt.datetime) -> Groups:
    """Group Pods into those that count, that are not ready yet, that have no metrics, and that are ending.

    Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go `groupPods` (1.36).
    """
    groups = Groups()
    for pod in pods:
        metric = metrics.get(pod.name)
        if pod.metadata.deletion_timestamp is not None or pod.status.phase == "Failed":
            groups.ignored.add(pod.name)
        elif pod.status.phase == "Pending":
            groups.unready.add(pod.name)
        elif metric is None:
            groups.missing.add(pod.name)
        elif resource == CPU and _is_unready(pod, metric, now):
            groups.unready.add(pod.name)
        else:
            groups.ready += 1
    return groups


def _is_unready(pod: ScaledPod, metric: PodMetric, now: dt.datetime) -> bool:
    """Return True if the measured CPU is the load of the Pod's start, not of its regular work."""
    condition = next((each for each in pod.status.conditions if each.type == "Ready"), None)
    if condition is None or pod.status.start_time is None:
        return True
    started = parse_time(pod.status.start_time)
    changed = parse_time(condition.last_transition_time) if condition.last_transition_time else started
    if started + CPU_INITIALIZATION > now:
        return condition.status == "False" or metric.at < changed + metric.window
    return condition.status == "False" and started + INITIAL_READINESS > changed


def requests_of(pods: Iterable[ScaledPod], container: str, resource: str) -> dict[str, int]:
    """Return each Pod's request for a resource in thousandths, of one container or all. Raises `MetricsError`."""
    return {pod.name: _request_of(pod, container, resource) for pod in pods}


def _request_of(pod: ScaledPod, container: str, resource: str) -> int:
    if pod.spec.resources.requests and not container:
        found = _amount(pod.spec.resources, resource)
        if found is None:
            raise MetricsError(f"missing pod-level request for {resource} in Pod {pod.name}")
        return found
    total = 0
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    for each in (*pod.spec.containers, *sidecars):
        if container not in ("", each.name):
            continue
        found = _amount(each.resources, resource)
        if found is None:
            raise MetricsError(f"missing request for {resource} in container {each.name} of Pod {pod.name}")
        total += found
        if container:
            return total
    if container:
        raise MetricsError(f"container {container} not found in Pod {pod.name}")
    return total


def _amount(resources: RequestedResources, resource: str) -> int | None:
    text: Any = resources.requests.get(resource)
    return None if text is None else parse(str(text)).scaled_value(MILLI)
