"""Status of a Pod, computed from the records of its containers.

Source: kubelet pkg/kubelet/kubelet_pods.go `getPhase`, `convertToAPIContainerStatuses`,
pkg/kubelet/status/generate.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sampan.core.time import format_time
from sampan.kinds import core_v1
from sampan.node.pods.plan import PodActions, Records, runs_again
from sampan.node.pods.resizing import IN_PROGRESS, PENDING, ResizeCondition
from sampan.node.runtime import ContainerRecord
from sampan.node.views.container import Container, ResourceRequirements
from sampan.node.views.pod import Pod

Status: TypeAlias = "core_v1.PodStatus"
"""Status of a Pod, whole or in part."""

REPLACE: Final = {"$patch": "replace"}
"""First element of a list in a strategic merge patch that replaces the list instead of merging it."""
_ADDRESS_LISTS: Final = ("podIPs", "hostIPs")
_RESIZE_CONDITIONS: Final = (PENDING, IN_PROGRESS)
_OWN_CONDITIONS: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """Reason why a container does not run yet."""

    reason: str
    message: str = ""

    def state(self) -> core_v1.ContainerState:
        """Return the state for the container's status."""
        waiting: core_v1.ContainerStateWaiting = {"reason": self.reason}
        if self.message:
            waiting["message"] = self.message
        return {"waiting": waiting}


@dataclass(frozen=True, slots=True)
class Observation:
    """Inputs for the computation of a Pod's status."""

    records: Records
    plan: PodActions
    host_ips: Sequence[str]
    addresses: Sequence[str]
    now: dt.datetime
    final: bool = False
    """True if the Pod is being deleted or has failed, and no container will run again."""
    waiting: Mapping[str, WaitingReason] = field(default_factory=dict)
    """Containers that cannot be started now, by name."""
    phase: str = ""
    """Phase that the Pod already has and keeps; empty to compute it."""
    has_sandbox: bool = True
    """False if the Pod's sandbox could not be created, so that the Pod has no addresses."""
    reports_resources: bool = False
    """True if the status reports the resources of containers."""
    resources: Mapping[str, ResourceRequirements] = field(default_factory=dict)
    """Resources of containers by name, if they are not those of the spec."""
    allocated: Mapping[str, ResourceRequirements] = field(default_factory=dict)
    """Allocated resources by the name of the container, if they are not those of the spec."""
    resizes: Sequence[ResizeCondition] = ()


def pod_status(pod: Pod, observed: Observation) -> Status:
    """Return the fields of the status that the agent owns."""
    phase = phase_of(pod, observed)
    addresses = list(observed.addresses) or list(observed.host_ips)
    status: Status = {
        "phase": phase,
        "observedGeneration": pod.metadata.generation or 1,
        "hostIP": observed.host_ips[0],
        "hostIPs": [{"ip": address} for address in observed.host_ips],
        "podIP": addresses[0],
        "podIPs": [{"ip": address} for address in addresses],
        "startTime": pod.reported.get("startTime") or format_time(observed.now),
        "containerStatuses": [_container_status(pod, each, observed, init=False) for each in pod.spec.containers],
    }
    if pod.spec.init_containers:
        status["initContainerStatuses"] = [
            _container_status(pod, each, observed, init=True) for each in pod.spec.init_containers
        ]
    if pod.spec.ephemeral_containers:
        status["ephemeralContainerStatuses"] = [
            _container_status(pod, each, observed, init=False) for each in pod.spec.ephemeral_containers
        ]
    if not observed.has_sandbox:
        del status["podIP"], status["podIPs"]
    if observed.reports_resources:
        _add_resources(pod, status, observed)
    status["conditions"] = _conditions(pod, phase, observed)
    return status


def _add_resources(pod: Pod, status: Status, observed: Observation) -> None:
    """Add the resources that apply to the containers, and those that the node has allocated for them."""
    for each in (*status["containerStatuses"], *(status.get("initContainerStatuses") or ())):
        spec = pod.spec.container(each["name"]).resources
        found = observed.resources.get(each["name"], spec)
        resources: Any = {}  # with the quantities as the spec has them: numbers, too
        if found.limits:
            resources["limits"] = found.limits
        if found.requests:
            resources["requests"] = found.requests
        allocated = observed.allocated.get(each["name"], spec).requests
        if allocated:
            each["allocatedResources"] = allocated
        if resources:
            each["resources"] = resources


def difference(pod: Pod, status: Status) -> dict[str, Any]:
    """Return the fields to change, as a strategic merge patch. Conditions merge by type; addresses are replaced."""
    changed: dict[str, Any] = {
        name: value for name, value in status.items() if name != "conditions" and pod.reported.get(name) != value
    }
    for name in _ADDRESS_LISTS:
        # A merge by `ip` would keep the old addresses. The directive is only for a list that exists: otherwise the
        # server
        # stores the directive itself.
        if name in changed and pod.reported.get(name):
            changed[name] = [REPLACE, *changed[name]]
    before = {condition["type"]: condition for condition in (pod.reported.get("conditions") or ())}
    conditions = [
        change for each in status["conditions"] if (change := _condition_change(before.get(each["type"], {}), each))
    ]
    kept = {each["type"] for each in status["conditions"]}
    conditions += [{"$patch": "delete", "type": name} for name in _RESIZE_CONDITIONS if name in before.keys() - kept]
    if conditions:
        changed["conditions"] = conditions
    return changed


def _condition_change(old: Mapping[str, Any], new: core_v1.PodCondition) -> dict[str, Any] | None:
    """Return the condition to send if it differs. None removes a field that the new condition does not have."""
    gone = {name: None for name in ("reason", "message") if old.get(name) and name not in new}
    if not gone and all(old.get(name) == value for name, value in new.items()):
        return None
    return {**new, **gone}


def phase_of(pod: Pod, observed: Observation) -> str:
    """Return the phase that follows from the states of the containers and the restart policy."""
    if observed.phase:
        return observed.phase
    if observed.plan.init_failed:
        return "Failed"
    found = [(container, observed.records.get(container.name)) for container in pod.spec.containers]
    ran = [record for _, record in found if record is not None]
    if observed.final:
        return "Succeeded" if len(ran) == len(found) and all(r.exit_code == 0 for r in ran) else "Failed"
    if not observed.plan.initialized or len(ran) < len(found):
        return "Pending"
    policy = pod.spec.restart_policy
    if any(record is not None and (record.is_running or runs_again(each, record, policy)) for each, record in found):
        return "Running"
    if any(record.is_running for record in observed.records.values()):
        return "Running"  # The agent stops the sidecars next.
    return "Succeeded" if all(record.exit_code == 0 for record in ran) else "Failed"


# ---- containers


def _container_status(pod: Pod, container: Container, observed: Observation, *, init: bool) -> core_v1.ContainerStatus:
    record = observed.records.get(container.name)
    waiting = observed.waiting.get(container.name)
    status: core_v1.ContainerStatus = {
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": _never_ran(pod, observed, init=init) if waiting is None else waiting.state(),
        "lastState": {},
    }
    if record is None:
        return status
    # An init container that has succeeded counts as ready.
    done = init and not container.is_sidecar and not record.is_running and record.exit_code == 0
    status |= {
        "imageID": record.image_id,
        "containerID": record.id,
        "ready": (record.ready and record.is_running) or done,
        "restartCount": record.restart_count,
        "started": record.started and record.is_running,
    }
    wait_s = observed.plan.backing_off.get(container.name)
    if record.is_running:
        status["state"] = {"running": {"startedAt": format_time(record.started_at)}}
    elif waiting is not None:
        status["state"], status["lastState"] = waiting.state(), _terminated(record)
        return status
    elif wait_s is not None:
        message = (
            f"back-off {_duration(wait_s)} restarting failed container={container.name} "
            f"pod={pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})"
        )
        status["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        status["lastState"] = _terminated(record)
        return status
    else:
        status["state"] = _terminated(record)
    if record.previous is not None:
        status["lastState"] = _terminated(record.previous)
    return status


def _never_ran(pod: Pod, observed: Observation, *, init: bool) -> core_v1.ContainerState:
    waits = init or (pod.spec.init_containers and not observed.plan.initialized)
    return {"waiting": {"reason": "PodInitializing" if waits else "ContainerCreating"}}


def _terminated(record: ContainerRecord) -> core_v1.ContainerState:
    assert record.finished_at is not None
    state: core_v1.ContainerStateTerminated = {
        "exitCode": record.exit_code,
        "reason": record.reason,
        "startedAt": format_time(record.started_at),
        "finishedAt": format_time(record.finished_at),
        "containerID": record.id,
    }
    if record.message:
        state["message"] = record.message
    return {"terminated": state}


def _duration(seconds: float) -> str:
    """Format seconds as Go does: 10s, 1m20s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


# ---- conditions


def _conditions(pod: Pod, phase: str, observed: Observation) -> list[core_v1.PodCondition]:
    """Return the agent's own conditions. Those with an unchanged status keep their transition time."""
    before = {condition["type"]: condition for condition in (pod.reported.get("conditions") or ())}
    containers_ready = _containers_ready(pod, phase, observed)
    lives = phase in ("Pending", "Running")
    values = {
        "PodReadyToStartContainers": ("True" if lives and observed.has_sandbox else "False", "", ""),
        "Initialized": _initialized(pod, phase, observed),
        "Ready": _ready(pod, before, containers_ready),
        "ContainersReady": containers_ready,
    }
    now = format_time(observed.now)
    conditions: list[core_v1.PodCondition] = []
    for name in _OWN_CONDITIONS:
        old = before.get(name)
        value, reason, message = values[name]
        condition: core_v1.PodCondition = {
            "type": name,
            "status": value,
            "observedGeneration": pod.metadata.generation or 1,
            "lastTransitionTime": old["lastTransitionTime"] if old and old["status"] == value else now,
        }
        if reason:
            condition["reason"] = reason
        if message:
            condition["message"] = message
        conditions.append(condition)
    return [*conditions, *(_resize_condition(each, before.get(each.type), now) for each in observed.resizes)]


def _resize_condition(resize: ResizeCondition, before: core_v1.PodCondition | None, now: str) -> core_v1.PodCondition:
    condition: core_v1.PodCondition = {
        "type": resize.type,
        "status": "True",
        "observedGeneration": resize.generation,
        "lastTransitionTime": now if before is None else before["lastTransitionTime"],
    }
    if resize.reason:
        condition["reason"] = resize.reason
    if resize.message:
        condition["message"] = resize.message
    return condition


_Value = tuple[str, str, str]


def _initialized(pod: Pod, phase: str, observed: Observation) -> _Value:
    if phase == "Succeeded":
        return "True", "PodCompleted", ""
    if observed.plan.initialized or not pod.spec.init_containers:
        return "True", "", ""
    incomplete = [
        container.name
        for container in pod.spec.init_containers
        if (record := observed.records.get(container.name)) is None
        or (not record.started if container.is_sidecar else record.is_running or record.exit_code != 0)
    ]
    return "False", "ContainersNotInitialized", f"containers with incomplete status: [{' '.join(incomplete)}]"


def _containers_ready(pod: Pod, phase: str, observed: Observation) -> _Value:
    if phase == "Succeeded":
        return "False", "PodCompleted", ""
    if phase == "Failed":
        return "False", "PodFailed", ""
    waited_for = [*(each for each in pod.spec.init_containers if each.is_sidecar), *pod.spec.containers]
    unready = []
    for container in waited_for:
        record = observed.records.get(container.name)
        if record is None or not record.is_running or not record.ready:
            unready.append(container.name)
    if not unready:
        return "True", "", ""
    return "False", "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"


def _ready(pod: Pod, before: Mapping[str, core_v1.PodCondition], containers_ready: _Value) -> _Value:
    if containers_ready[0] != "True":
        return containers_ready
    messages = []
    for gate in pod.spec.readiness_gates:
        condition = before.get(gate.condition_type)
        if condition is None:
            messages.append(f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.')
        elif condition["status"] != "True":
            messages.append(
                f'the status of pod readiness gate "{gate.condition_type}" is not "True", but {condition["status"]}'
            )
    return ("False", "ReadinessGatesNotReady", ", ".join(messages)) if messages else ("True", "", "")
