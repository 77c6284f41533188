"""What a Deployment tells of itself: numbers, and the conditions Available, Progressing and ReplicaFailure.

Source: kube-controller-manager pkg/controller/deployment/{sync,progress}.go (1.36).
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.deployment.sizes import max_unavailable, told, wanted
from sampan.controllers.status import (
    find_status_condition,
    remove_status_condition,
    set_status_condition,
    status_of,
)
from sampan.core.time import Clock, add_seconds, parse_time
from sampan.resource import Object, meta

PROGRESSING: Final = "Progressing"
AVAILABLE: Final = "Available"
REPLICA_FAILURE: Final = "ReplicaFailure"
NEW_AVAILABLE: Final = "NewReplicaSetAvailable"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
_NONE: Final = 2**31 - 1
_COUNTS: Final = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is of a Deployment."""

    deployment: Object
    old: Sequence[Object]
    new: Object | None

    @property
    def every(self) -> list[Object]:
        """All its ReplicaSets."""
        return [*self.old, *([self.new] if self.new is not None else [])]


def deadline_s(deployment: Object) -> int | None:
    """The seconds in which progress must be seen; None: no matter how many."""
    said = deployment["spec"].get("progressDeadlineSeconds")
    return None if said is None or said == _NONE else int(said)


def progressing(deployment: Object, status: Object, reason: str, message: str, clock: Clock) -> None:
    """Set the condition Progressing, if there is a deadline at all."""
    if deadline_s(deployment) is None:
        return
    state = {"ReplicaSetCreateError": "False", TIMED_OUT: "False"}.get(reason, "True")
    if reason in ("DeploymentPaused", "DeploymentResumed"):
        state = "Unknown"
    _set(status, {"type": PROGRESSING, "status": state, "reason": reason, "message": message}, clock)


def counted(seen: Seen, status: Object, clock: Clock) -> Object:
    """The status with numbers and availability as they are now."""
    deployment, every = seen.deployment, seen.every
    available = sum(told(each, "availableReplicas") for each in every)
    counts = {
        "replicas": sum(told(each, "replicas") for each in every),
        "updatedReplicas": told(seen.new, "replicas") if seen.new is not None else 0,
        "readyReplicas": sum(told(each, "readyReplicas") for each in every),
        "availableReplicas": available,
        "unavailableReplicas": max(0, sum(map(wanted, every)) - available),
    }
    for name, count in counts.items():
        if count:
            status[name] = count
        else:
            status.pop(name, None)
    status["observedGeneration"] = meta(deployment).generation
    enough = available >= wanted(deployment) - max_unavailable(deployment)
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    message = f"Deployment {'has' if enough else 'does not have'} minimum availability."
    _set(status, {"type": AVAILABLE, "status": str(enough), "reason": reason, "message": message}, clock)
    return status


def rolled_out(seen: Seen, status: Object, clock: Clock) -> Object:
    """The status of a Deployment that is being rolled out, or has been: progress and failures too."""
    before = seen.deployment.get("status") or {}
    counted(seen, status, clock)
    _progress(seen, before, status, clock)
    _failures(seen, status)
    return status


def _progress(seen: Seen, before: Object, status: Object, clock: Clock) -> None:
    deployment = seen.deployment
    if deadline_s(deployment) is None:
        remove_status_condition(status, PROGRESSING)
        return
    current = find_status_condition(status, PROGRESSING)
    all_new = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    if all_new and current is not None and current.get("reason") == NEW_AVAILABLE:
        return
    what = f'ReplicaSet "{meta(seen.new).name}"' if seen.new is not None else f'Deployment "{meta(deployment).name}"'
    if is_complete(deployment, status):
        progressing(deployment, status, NEW_AVAILABLE, f"{what} has successfully progressed.", clock)
    elif _has_progressed(before, status):
        if current is not None:
            # The time of the last progress is what the deadline counts from, so the condition is made anew.
            remove_status_condition(status, PROGRESSING)
        progressing(deployment, status, "ReplicaSetUpdated", f"{what} is progressing.", clock)
        made = find_status_condition(status, PROGRESSING)
        if current is not None and made is not None and current.get("status") == "True":
            made["lastTransitionTime"] = current.get("lastTransitionTime", made["lastTransitionTime"])
    elif overdue_s(deployment, status, clock.now()) == 0:
        progressing(deployment, status, TIMED_OUT, f"{what} has timed out progressing.", clock)


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether all Pods are new and available."""
    total = wanted(deployment)
    counts = (status.get(name, 0) for name in ("updatedReplicas", "replicas", "availableReplicas"))
    return all(count == total for count in counts) and status["observedGeneration"] >= meta(deployment).generation


def _has_progressed(before: Object, now: Object) -> bool:
    was, is_ = ({name: int(status.get(name) or 0) for name in _COUNTS} for status in (before, now))
    return (
        is_["updatedReplicas"] > was["updatedReplicas"]
        or is_["replicas"] - is_["updatedReplicas"] < was["replicas"] - was["updatedReplicas"]
        or is_["readyReplicas"] > was["readyReplicas"]
        or is_["availableReplicas"] > was["availableReplicas"]
    )


def overdue_s(deployment: Object, status: Object, now: dt.datetime) -> float | None:
    """The seconds until the deadline, 0 when it has passed; None when nothing is waited for."""
    limit_s = deadline_s(deployment)
    condition = find_status_condition(status, PROGRESSING)
    if limit_s is None or condition is None or condition.get("reason") in (NEW_AVAILABLE, TIMED_OUT):
        return None
    told = condition.get("lastUpdateTime") or condition.get("lastTransitionTime")
    if not told:
        return 0.0
    since = parse_time(told)
    return max(0.0, (add_seconds(since, limit_s) - now).total_seconds())


def _failures(seen: Seen, status: Object) -> None:
    """A ReplicaSet that cannot make its Pods is told by the Deployment; the new one's trouble first."""
    for replica_set in [*([seen.new] if seen.new is not None else []), *seen.old]:
        found = find_status_condition(replica_set.get("status") or {}, REPLICA_FAILURE)
        if found is not None:
            since = found.get("lastTransitionTime")
            present = find_status_condition(status, REPLICA_FAILURE)
            if present is None or any(present.get(field) != found.get(field) for field in ("status", "reason")):
                remove_status_condition(status, REPLICA_FAILURE)
                status.setdefault("conditions", []).append({**found, "lastUpdateTime": since})
            return
    remove_status_condition(status, REPLICA_FAILURE)


def _set(status: Object, condition: Object, clock: Clock) -> None:
    set_status_condition(status, condition, clock, update_time=True)


def fresh(deployment: Object) -> Object:
    """The status as it is, to be changed."""
    return status_of(deployment)
