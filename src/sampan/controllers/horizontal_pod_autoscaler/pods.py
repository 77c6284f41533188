"""What the autoscaler looks at in Pods: whether they count, and what they request."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from sampan.controllers.horizontal_pod_autoscaler.metrics import MetricsError, PodMetric
from sampan.core.quantity import parse
from sampan.core.time import parse_time
from sampan.loops.views import PodStatus
from sampan.resource import ObjectMeta

CPU: Final = "cpu"
MILLI: Final = -3
CPU_INITIALIZATION: Final = dt.timedelta(minutes=5)
"""For so long after its start a Pod's CPU counts only while it is ready, and has been during the whole measurement."""
INITIAL_READINESS: Final = dt.timedelta(seconds=30)
"""A Pod whose readiness last changed within this time after its start has never been ready."""


class Resources(msgspec.Struct, frozen=True, gc=False):
    """What is requested."""

    requests: dict[str, str | int | float] = {}


class Container(msgspec.Struct, rename="camel", gc=False):
    """A container and what it requests."""

    name: str = ""
    restart_policy: str = ""
    resources: Resources = Resources()


class Spec(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """What requests something in a Pod."""

    containers: list[Container] = []
    init_containers: list[Container] = []
    resources: Resources = Resources()


class ScaledPod(msgspec.Struct):
    """A Pod of a target, as the autoscaler sees it."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: Spec = Spec()
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    @property
    def name(self) -> str:
        """The Pod's name."""
        return self.metadata.name

    @property
    def is_ready(self) -> bool:
        """Whether it runs and says that it is ready."""
        return self.status.phase == "Running" and any(
            each.type == "Ready" and each.status == "True" for each in self.status.conditions
        )


_decoder: Final = msgspec.json.Decoder(ScaledPod)


def decode_pod(raw: bytes) -> ScaledPod:
    """A Pod of its JSON."""
    return _decoder.decode(raw)


@dataclass(slots=True)
class Groups:
    """Pods by what their metrics are worth; names, but for `ready`, which is a number."""

    ready: int = 0
    unready: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)


def group(pods: Iterable[ScaledPod], metrics: Mapping[str, PodMetric], resource: str, now: dt.datetime) -> Groups:
    """Tell the Pods that count from those that do not yet, that have no metrics, and that will not any more.

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
    """Whether what was measured of a Pod's CPU tells of its start rather than of its work."""
    condition = next((each for each in pod.status.conditions if each.type == "Ready"), None)
    if condition is None or pod.status.start_time is None:
        return True
    started = parse_time(pod.status.start_time)
    changed = parse_time(condition.last_transition_time) if condition.last_transition_time else started
    if started + CPU_INITIALIZATION > now:
        return condition.status == "False" or metric.at < changed + metric.window
    return condition.status == "False" and started + INITIAL_READINESS > changed


def requests_of(pods: Iterable[ScaledPod], container: str, resource: str) -> dict[str, int]:
    """What each Pod requests of a resource, in thousandths; of one container, if it is named. Raises `MetricsError`."""
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


def _amount(resources: Resources, resource: str) -> int | None:
    text: Any = resources.requests.get(resource)
    return None if text is None else parse(str(text)).scaled_value(MILLI)
