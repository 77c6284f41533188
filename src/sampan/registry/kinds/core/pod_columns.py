"""Table of Pods, which shows the state of a Pod as one word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sampan.kinds import core_v1
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, NONE, at, column, condition_is_true
from sampan.registry.definition import Column

Status = Mapping[str, Any]


class Restarts(NamedTuple):
    """Number of restarts, and the time of the last one. RFC 3339 times sort as text."""

    times: int = 0
    last: str = ""

    def plus(self, status: Status) -> Restarts:
        """Return the sum of these restarts and the restarts of another container."""
        terminated = status.get("lastState", EMPTY).get("terminated", EMPTY)
        return Restarts(self.times + status.get("restartCount", 0), max(self.last, terminated.get("finishedAt") or ""))


class PodSummary(NamedTuple):
    """Values that the table row of a Pod shows."""

    ready: int
    total: int
    reason: str
    restarts: Restarts


def _terminated_reason(terminated: Status) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _init_reason(status: Status, index: int, total: int) -> str:
    state = status.get("state", EMPTY)
    if "terminated" in state:
        return "Init:" + _terminated_reason(state["terminated"])
    waiting = state.get("waiting", EMPTY).get("reason")
    if waiting and waiting != "PodInitializing":
        return f"Init:{waiting}"
    return f"Init:{index}/{total}"


class _InitContainers(NamedTuple):
    ready: int
    reason: str | None
    all: Restarts
    restartable: Restarts


def _init_containers(spec: Status, status: Status, sidecars: set[str]) -> _InitContainers:
    ready, every, restartable = 0, Restarts(), Restarts()
    containers = spec.get("initContainers", ())
    for index, container in enumerate(status.get("initContainerStatuses", ())):
        every = every.plus(container)
        is_sidecar = container.get("name") in sidecars
        if is_sidecar:
            restartable = restartable.plus(container)
        terminated = container.get("state", EMPTY).get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            ready += bool(container.get("ready"))
            continue
        return _InitContainers(ready, _init_reason(container, index, len(containers)), every, restartable)
    return _InitContainers(ready, None, every, restartable)


def _first_reason(status: Status) -> str:
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return str(status.get("reason") or status.get("phase", ""))


def _containers(status: Status, reason: str, restarts: Restarts) -> tuple[int, str, Restarts]:
    ready, running, failure = 0, False, ""
    for container in reversed(status.get("containerStatuses", ())):
        restarts = restarts.plus(container)
        state = container.get("state", EMPTY)
        waiting = state.get("waiting", EMPTY).get("reason")
        terminated = state.get("terminated")
        if waiting:
            reason = waiting
        elif terminated is not None:
            reason = _terminated_reason(terminated)
            if terminated.get("exitCode"):
                failure = reason
        elif container.get("ready") and "running" in state:
            running = True
            ready += 1
    if reason == "Completed":
        if running and _has_true(status, "Ready"):
            reason = "Running"
        elif failure:
            reason = failure
        elif running:
            reason = "NotReady"
    return ready, reason, restarts


def _has_true(status: Status, kind: str) -> bool:
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", ()))


def summarize(pod: core_v1.Pod) -> PodSummary:
    """Return the numbers and the reason that the table row of a Pod shows. Source: printPod (1.36)."""
    spec, status = pod.get("spec", EMPTY), pod.get("status", EMPTY)
    sidecars = {c["name"] for c in spec.get("initContainers", ()) if c.get("restartPolicy") == "Always"}
    total = len(spec.get("containers", ())) + len(sidecars)
    reason = _first_reason(status)
    init = _init_containers(spec, status, sidecars)
    ready, restarts = init.ready, init.all
    if init.reason is not None:
        reason = init.reason
    if init.reason is None or condition_is_true(status.get("conditions", ()), "Initialized"):
        ready_main, reason, restarts = _containers(status, reason, init.restartable)
        ready += ready_main
    if "deletionTimestamp" in pod["metadata"]:
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in ("Failed", "Succeeded"):
            reason = "Terminating"
    return PodSummary(ready, total, reason, restarts)


def _cache_last(summary: Callable[[core_v1.Pod], PodSummary]) -> Callable[[core_v1.Pod], PodSummary]:
    """Cache the last summary for the three cells of a row. A Pod must not change between them."""
    last: tuple[core_v1.Pod, PodSummary] | None = None

    def cached(pod: core_v1.Pod) -> PodSummary:
        nonlocal last
        entry = last
        if entry is None or entry[0] is not pod:
            entry = last = (pod, summary(pod))
        return entry[1]

    return cached


def _readiness_gates(pod: core_v1.Pod) -> str:
    gates: Iterable[Status] = pod.get("spec", EMPTY).get("readinessGates", ())
    if not gates:
        return NONE
    conditions = pod.get("status", EMPTY).get("conditions", ())
    met = [condition_is_true(conditions, gate["conditionType"]) for gate in gates]
    return f"{sum(met)}/{len(met)}"


def _ip(pod: core_v1.Pod) -> str:
    addresses = pod.get("status", EMPTY).get("podIPs") or ()
    return (addresses[0].get("ip") if addresses else None) or NONE


_COMPLETED: Final = {"type": "Completed", "status": "True"}
_ENDS: Final[Mapping[str, Sequence[Mapping[str, str]]]] = {
    "Succeeded": [{**_COMPLETED, "reason": "Succeeded", "message": "The pod has completed successfully."}],
    "Failed": [{**_COMPLETED, "reason": "Failed", "message": "The pod failed."}],
}


def row_conditions(pod: core_v1.Pod) -> Sequence[Mapping[str, str]]:
    """Return the `Completed` condition of a Pod that has ended."""
    return _ENDS.get(pod.get("status", EMPTY).get("phase", ""), ())


def pod_columns(ages: Ages) -> tuple[Column, ...]:
    """Return the columns of `kubectl get pods`. Cells of one row share the summary of its Pod."""
    summary = _cache_last(summarize)

    def ready(pod: core_v1.Pod) -> str:
        row = summary(pod)
        return f"{row.ready}/{row.total}"

    def restarts(pod: core_v1.Pod) -> str:
        times, last = summary(pod).restarts
        return f"{times} ({ages.since(last)} ago)" if times and last else str(times)

    return (
        NAME,
        column("Ready", ready),
        column("Status", lambda pod: summary(pod).reason),
        column("Restarts", restarts),
        ages.column,
        column("IP", _ip, wide=True),
        column("Node", at("spec", "nodeName", default=NONE), wide=True),
        column("Nominated Node", at("status", "nominatedNodeName", default=NONE), wide=True),
        column("Readiness Gates", _readiness_gates, wide=True),
    )
