"""`plan`: computes the next steps for a Pod's containers from their records.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_manager.go `computePodActions`, kuberuntime_container.go
`computeInitContainerActions`, pkg/kubelet/kubelet.go (MaxContainerBackOff) (1.36).
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.node.pods.status_records import KILLED_REASON, LOST_REASON
from sampan.node.runtime import ContainerRecord
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

BACKOFF_FIRST_S: Final = 10.0
BACKOFF_MAX_S: Final = 300.0
_LOST_REASONS: Final = (LOST_REASON, KILLED_REASON)
_BACKOFF_RESET_S: Final = 600.0
"""A container that ran at least this long is restarted without backoff."""

Records = Mapping[str, ContainerRecord]


@dataclass(slots=True)
class PodActions:
    """Next steps for a Pod's containers."""

    start: list[tuple[Container, int]] = field(default_factory=list)
    """Containers to start, each with the restart count of its run."""
    stop: list[str] = field(default_factory=list)
    """Containers to stop: sidecars after the end of all ordinary containers."""
    backing_off: dict[str, float] = field(default_factory=dict)
    """Containers in backoff, by name: length of the backoff in seconds."""
    wake_s: float | None = None
    """Seconds until the first of these backoffs ends."""
    initialized: bool = False
    """True if all init containers have succeeded, and all sidecars have started."""
    init_failed: bool = False
    """True if an init container has failed and will not be restarted."""


def plan(pod: Pod, records: Records, now: dt.datetime) -> PodActions:
    """Return the next steps for a Pod that should run."""
    found = PodActions()
    over = _mains_are_over(pod, records)
    found.initialized = _init(pod, records, now, found) or over or any(c.name in records for c in pod.spec.containers)
    if found.initialized and not over:
        # Ephemeral containers run once, whatever their exit code.
        found.start.extend((each, 0) for each in pod.spec.ephemeral_containers if each.name not in records)
    # Sidecars run until all other containers have ended. Nothing may start then.
    if over or found.init_failed:
        found.start, found.backing_off, found.wake_s = [], {}, None
        found.stop = [name for name, record in records.items() if record.is_running]
    elif found.initialized:
        for container in pod.spec.containers:
            _plan_container(container, records.get(container.name), pod.spec.restart_policy, now, found)
    return found


def _init(pod: Pod, records: Records, now: dt.datetime, found: PodActions) -> bool:
    """Plan the next init container. Returns whether all init containers have finished."""
    # With Always, a successful init container must not run again either.
    policy = "Never" if pod.spec.restart_policy == "Never" else "OnFailure"
    for container in pod.spec.init_containers:
        record = records.get(container.name)
        if container.is_sidecar:
            _plan_container(container, record, "Always", now, found)
            # The next container waits until the sidecar's startup probe succeeds, not until its end.
            if record is None or not record.started:
                return False
        elif record is None or record.is_running or record.exit_code != 0:
            _plan_container(container, record, policy, now, found)
            ended = record is not None and not record.is_running
            found.init_failed = ended and record is not None and not runs_again(container, record, policy)
            return False
    return True


def _plan_container(
    container: Container, record: ContainerRecord | None, policy: str, now: dt.datetime, found: PodActions
) -> None:
    """Plan the start of a container that has never run, or that its restart policy starts again."""
    if record is None:
        found.start.append((container, 0))
        return
    if record.finished_at is None or not runs_again(container, record, policy):
        return
    wait_s = backoff_s(record)
    left_s = wait_s - (now - record.finished_at).total_seconds()
    if left_s <= 0:
        found.start.append((container, record.restart_count + 1))
        return
    found.backing_off[container.name] = wait_s
    found.wake_s = left_s if found.wake_s is None else min(found.wake_s, left_s)


def runs_again(container: Container, record: ContainerRecord, policy: str) -> bool:
    """Return whether an ended container is restarted: by its rules, by its own policy, or by the Pod's."""
    if record.restarts:
        return True
    for rule in container.restart_policy_rules:
        codes = rule.exit_codes
        if codes is not None and (record.exit_code in codes.values) == (codes.operator == "In"):
            return True
    policy = container.restart_policy or policy
    return policy == "Always" or (policy == "OnFailure" and record.exit_code != 0)


def backoff_s(record: ContainerRecord) -> float:
    """Return the seconds between a container's end and its restart: 0 before the first restart, then 10, doubling each
    time.

    A container that ended with its agent has not crashed, so it starts at once, as after a restart of the kubelet.
    """
    if record.restarts or record.restart_count == 0 or record.finished_at is None or record.reason in _LOST_REASONS:
        return 0.0
    if (record.finished_at - record.started_at).total_seconds() >= _BACKOFF_RESET_S:
        return 0.0
    return float(min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2 ** min(record.restart_count - 1, 10)))


def _mains_are_over(pod: Pod, records: Records) -> bool:
    """Return whether all ordinary containers have ended and none will be restarted."""
    policy = pod.spec.restart_policy
    for container in pod.spec.containers:
        record = records.get(container.name)
        if record is None or record.is_running or runs_again(container, record, policy):
            return False
    return bool(pod.spec.containers)
