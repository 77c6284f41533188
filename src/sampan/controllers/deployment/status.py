"""Status of a Deployment: counts, and the conditions Available, Progressing and ReplicaFailure.

Source: kube-controller-manager pkg/controller/deployment/{sync,progress}.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from sampan.controllers.deployment.sizes import desired, max_unavailable, status_count
from sampan.controllers.status import (
    find_status_condition,
    remove_status_condition,
    set_counts,
    set_status_condition,
    status_of,
)
from sampan.core.time import Clock, add_seconds, parse_time
from sampan.kinds import apps_v1
from sampan.resource import meta

PROGRESSING: Final = "Progressing"
AVAILABLE: Final = "Available"
REPLICA_FAILURE: Final = "ReplicaFailure"
NEW_AVAILABLE: Final = "NewReplicaSetAvailable"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
_Count = Literal["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"]
_NONE: Final = 2**31 - 1
_COUNTS: Final[Sequence[_Count]] = (
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
)


@dataclass(frozen=True, slots=True)
class DeploymentState:
    """A Deployment and its ReplicaSets, as one reconciliation reads them."""

    deployment: apps_v1.Deployment
    old: Sequence[apps_v1.ReplicaSet]
    new: apps_v1.ReplicaSet | None

    @property
    def every(self) -> list[apps_v1.ReplicaSet]:
        """All ReplicaSets of the Deployment."""
        return [*self.old, *([self.new] if self.new is not None else [])]


def deadline_s(deployment: apps_v1.Deployment) -> int | None:
    """Return the progress deadline in seconds; None if there is none."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds is None or seconds == _NONE else int(seconds)


def progressing(
    deployment: apps_v1.Deployment, status: apps_v1.DeploymentStatus, reason: str, message: str, clock: Clock
) -> None:
    """Set the condition Progressing, if the Deployment has a progress deadline."""
    if deadline_s(deployment) is None:
        return
    state = {"ReplicaSetCreateError": "False", TIMED_OUT: "False"}.get(reason, "True")
    if reason in ("DeploymentPaused", "DeploymentResumed"):
        state = "Unknown"
    _set(status, {"type": PROGRESSING, "status": state, "reason": reason, "message": message}, clock)


def counted(state: DeploymentState, status: apps_v1.DeploymentStatus, clock: Clock) -> apps_v1.DeploymentStatus:
    """Update the counts and the condition Available."""
    deployment, every = state.deployment, state.every
    available = sum(status_count(each, "availableReplicas") for each in every)
    counts: apps_v1.DeploymentStatus = {
        "replicas": sum(status_count(each, "replicas") for each in every),
        "updatedReplicas": status_count(state.new, "replicas") if state.new is not None else 0,
        "readyReplicas": sum(status_count(each, "readyReplicas") for each in every),
        "availableReplicas": available,
        "unavailableReplicas": max(0, sum(map(desired, every)) - available),
    }
    set_counts(status, counts)
    status["observedGeneration"] = meta(deployment).generation
    enough = available >= desired(deployment) - max_unavailable(deployment)
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    message = f"Deployment {'has' if enough else 'does not have'} minimum availability."
    _set(status, {"type": AVAILABLE, "status": str(enough), "reason": reason, "message": message}, clock)
    return status


def rolled_out(state: DeploymentState, status: apps_v1.DeploymentStatus, clock: Clock) -> apps_v1.DeploymentStatus:
    """Update the status of a Deployment during or after a rollout, including progress and failures."""
    before = state.deployment.get("status") or {}
    counted(state, status, clock)
    _progress(state, before, status, clock)
    _failures(state, status)
    return status


def _progress(
    state: DeploymentState, before: apps_v1.DeploymentStatus, status: apps_v1.DeploymentStatus, clock: Clock
) -> None:
    deployment = state.deployment
    if deadline_s(deployment) is None:
        remove_status_condition(status, PROGRESSING)
        return
    current = find_status_condition(status, PROGRESSING)
    all_new = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    if all_new and current is not None and current.get("reason") == NEW_AVAILABLE:
        return
    name = f'ReplicaSet "{meta(state.new).name}"' if state.new is not None else f'Deployment "{meta(deployment).name}"'
    if is_complete(deployment, status):
        progressing(deployment, status, NEW_AVAILABLE, f"{name} has successfully progressed.", clock)
    elif _has_progressed(before, status):
        if current is not None:
            # The deadline counts from the condition's update time, so the condition is replaced by a new one.
            remove_status_condition(status, PROGRESSING)
        progressing(deployment, status, "ReplicaSetUpdated", f"{name} is progressing.", clock)
        made = find_status_condition(status, PROGRESSING)
        if current is not None and made is not None and current.get("status") == "True":
            made["lastTransitionTime"] = current.get("lastTransitionTime", made["lastTransitionTime"])
    elif overdue_s(deployment, status, clock.now()) == 0:
        progressing(deployment, status, TIMED_OUT, f"{name} has timed out progressing.", clock)


def is_complete(deployment: apps_v1.Deployment, status: apps_v1.DeploymentStatus) -> bool:
    """Return True if all Pods have the new template and are available."""
    total = desired(deployment)
    counts = (status.get("updatedReplicas", 0), status.get("replicas", 0), status.get("availableReplicas", 0))
    return all(count == total for count in counts) and status["observedGeneration"] >= meta(deployment).generation


def is_done(deployment: apps_v1.Deployment) -> bool:
    """Return True if the last status reported a complete rollout."""
    status: apps_v1.DeploymentStatus = {"observedGeneration": 0, **(deployment.get("status") or {})}
    return is_complete(deployment, status)


def _has_progressed(before: apps_v1.DeploymentStatus, now: apps_v1.DeploymentStatus) -> bool:
    was, is_ = ({name: status.get(name) or 0 for name in _COUNTS} for status in (before, now))
    return (
        is_["updatedReplicas"] > was["updatedReplicas"]
        or is_["replicas"] - is_["updatedReplicas"] < was["replicas"] - was["updatedReplicas"]
        or is_["readyReplicas"] > was["readyReplicas"]
        or is_["availableReplicas"] > was["availableReplicas"]
    )


def overdue_s(deployment: apps_v1.Deployment, status: apps_v1.DeploymentStatus, now: dt.datetime) -> float | None:
    """Return the seconds until the progress deadline, 0 after it; None if no progress is expected."""
    limit_s = deadline_s(deployment)
    condition = find_status_condition(status, PROGRESSING)
    if limit_s is None or condition is None or condition.get("reason") in (NEW_AVAILABLE, TIMED_OUT):
        return None
    updated = condition.get("lastUpdateTime") or condition.get("lastTransitionTime")
    if not updated:
        return 0.0
    since = parse_time(updated)
    return max(0.0, (add_seconds(since, limit_s) - now).total_seconds())


def _failures(state: DeploymentState, status: apps_v1.DeploymentStatus) -> None:
    """Copy the condition ReplicaFailure from a ReplicaSet, the new one first, or remove it from the status."""
    for replica_set in [*([state.new] if state.new is not None else []), *state.old]:
        found = find_status_condition(replica_set.get("status") or {}, REPLICA_FAILURE)
        if found is not None:
            since = found.get("lastTransitionTime")
            present = find_status_condition(status, REPLICA_FAILURE)
            if present is None or any(present.get(field) != found.get(field) for field in ("status", "reason")):
                remove_status_condition(status, REPLICA_FAILURE)
                copied = cast("apps_v1.DeploymentCondition", {**found, "lastUpdateTime": since})
                status.setdefault("conditions", []).append(copied)
            return
    remove_status_condition(status, REPLICA_FAILURE)


def _set(status: apps_v1.DeploymentStatus, condition: apps_v1.DeploymentCondition, clock: Clock) -> None:
    set_status_condition(status, condition, clock, update_time=True)


def copied(deployment: apps_v1.Deployment) -> apps_v1.DeploymentStatus:
    """Return a copy of the status that the caller may change."""
    status: apps_v1.DeploymentStatus = status_of(deployment)
    return status
