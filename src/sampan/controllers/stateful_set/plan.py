"""Plan of a StatefulSet: its state and the decisions that follow from it, as pure functions.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go (1.36).
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.component_base.views import Pod
from sampan.controllers.stateful_set.identity import ordinal_of, ordinals, revision_name_of
from sampan.controllers.status import set_counts, status_of
from sampan.controllers.workloads.availability import is_available
from sampan.controllers.workloads.history import template_of
from sampan.kinds import apps_v1, core_v1
from sampan.resource import meta

ROLLING_UPDATE: Final = "RollingUpdate"


class ReplicaAction(enum.Enum):
    """Action for one Pod."""

    CREATE = enum.auto()
    DELETE = enum.auto()
    KEEP = enum.auto()
    """No change; the next Pod can be handled."""
    WAIT = enum.auto()
    """No change; all later Pods have to wait too."""


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions before and after an update; both are the same without an update."""

    current: apps_v1.ControllerRevision
    update: apps_v1.ControllerRevision
    collisions: int
    """Number of name collisions of revisions so far."""

    @property
    def current_name(self) -> str:
        """Name of the revision before the update."""
        return meta(self.current).name

    @property
    def update_name(self) -> str:
        """Name of the revision after the update."""
        return meta(self.update).name


@dataclass(frozen=True, slots=True)
class StatefulSetState:
    """A set and its Pods. Create it with `observe`."""

    stateful_set: apps_v1.StatefulSet
    revisions: Revisions
    pods: Sequence[Pod]
    now: dt.datetime
    replicas: Mapping[int, Pod | None]
    """Desired Pods in the order of their ordinals; None for a missing one."""
    condemned: Sequence[Pod]
    """Surplus Pods, the highest ordinal first."""

    @property
    def is_ordered(self) -> bool:
        """True if Pods are handled one after the other."""
        return bool(self.stateful_set["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def min_ready_s(self) -> int:
        """Seconds a Pod must be ready before it counts as available."""
        return int(self.stateful_set["spec"].get("minReadySeconds") or 0)

    def is_available(self, pod: Pod | None) -> bool:
        """Return True if a Pod is available and not being deleted."""
        if pod is None or pod.metadata.deletion_timestamp is not None:
            return False
        return is_available(pod, self.min_ready_s, self.now)

    @property
    def first_unavailable(self) -> int | None:
        """Lowest ordinal without available Pod; desired Pods come before surplus ones."""
        for ordinal, pod in self.replicas.items():
            if not self.is_available(pod):
                return ordinal
        return next((ordinal_of(pod) for pod in reversed(self.condemned) if not self.is_available(pod)), None)


def observe(
    stateful_set: apps_v1.StatefulSet, revisions: Revisions, pods: Sequence[Pod], now: dt.datetime
) -> StatefulSetState:
    """Sort the Pods of a set into desired and surplus ones. Pods without ordinal are ignored."""
    desired = ordinals(stateful_set)
    found = {ordinal_of(pod): pod for pod in pods}
    condemned = [found[ordinal] for ordinal in sorted(found, reverse=True) if ordinal >= 0 and ordinal not in desired]
    return StatefulSetState(
        stateful_set, revisions, pods, now, {ordinal: found.get(ordinal) for ordinal in desired}, condemned
    )


def template_for(state: StatefulSetState, ordinal: int) -> tuple[core_v1.PodTemplateSpec, str]:
    """Return the template for a new Pod with an ordinal, and the name of its revision."""
    strategy = state.stateful_set["spec"].get("updateStrategy") or {}
    desired = ordinals(state.stateful_set)
    behind = 0
    if strategy.get("rollingUpdate") is not None:
        behind = _partition(state)
    elif strategy.get("type") == ROLLING_UPDATE:
        observed = state.stateful_set.get("status")
        behind = (observed.get("currentReplicas") or 0) if observed else 0
    revision = state.revisions.current if ordinal < desired.start + behind else state.revisions.update
    return template_of(revision), meta(revision).name


def step(state: StatefulSetState, pod: Pod | None) -> ReplicaAction:
    """Return the action for a desired Pod.

    With ordered management, later Pods wait until it is available. An ended Pod is replaced, even if it has succeeded.
    """
    if pod is None:
        return ReplicaAction.CREATE
    is_terminating = pod.metadata.deletion_timestamp is not None
    if pod.is_terminated:
        return ReplicaAction.WAIT if is_terminating else ReplicaAction.DELETE
    if state.is_ordered and not (_is_running_and_ready(pod) and state.is_available(pod)):
        return ReplicaAction.WAIT
    return ReplicaAction.KEEP


def condemned_step(state: StatefulSetState, pod: Pod) -> ReplicaAction:
    """Return the action for a surplus Pod.

    With ordered management, an unavailable Pod is deleted only if it is the first unavailable one of the set.
    """
    if pod.metadata.deletion_timestamp is not None:
        return ReplicaAction.WAIT if state.is_ordered else ReplicaAction.KEEP
    is_well = _is_running_and_ready(pod) and state.is_available(pod)
    if state.is_ordered and not is_well and ordinal_of(pod) != state.first_unavailable:
        return ReplicaAction.WAIT
    return ReplicaAction.DELETE


def next_outdated(state: StatefulSetState) -> Pod | None:
    """Return the Pod that the update deletes next, or None.

    It has the highest ordinal of the outdated Pods, and all Pods above it are updated and available.
    """
    if (state.stateful_set["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return None
    for pod in reversed(list(state.replicas.values())[_partition(state) :]):
        # The Pod is replaced first. Until then, deleting another one would leave two missing.
        if pod is None or pod.is_terminated:
            return None
        is_outdated = revision_name_of(pod) != state.revisions.update_name
        if is_outdated and pod.metadata.deletion_timestamp is None:
            return pod
        if not state.is_available(pod):
            return None
    return None


def status(state: StatefulSetState) -> apps_v1.StatefulSetStatus:
    """Compute the status from the observed Pods. After a complete update, the current revision becomes the new one."""
    deleting = meta(state.stateful_set).deletion_timestamp is not None
    pods = state.pods if deleting else [pod for pod in (*state.replicas.values(), *state.condemned) if pod is not None]
    names = [revision_name_of(pod) for pod in pods if pod.metadata.deletion_timestamp is None]
    ready = [pod for pod in pods if _is_running_and_ready(pod)]
    current_name, update_name = state.revisions.current_name, state.revisions.update_name
    counts: apps_v1.StatefulSetStatus = {
        "replicas": len(pods),
        "readyReplicas": len(ready),
        "availableReplicas": sum(is_available(pod, state.min_ready_s, state.now) for pod in ready),
        "currentReplicas": names.count(current_name),
        "updatedReplicas": names.count(update_name),
    }
    desired = len(state.replicas)
    is_rolling = (state.stateful_set["spec"].get("updateStrategy") or {}).get("type") == ROLLING_UPDATE
    # Only a complete update changes the current revision: until then a rollback must find the old one.
    if is_rolling and counts["updatedReplicas"] == counts["readyReplicas"] == counts["replicas"] == desired:
        counts["currentReplicas"], current_name = desired, update_name
    new: apps_v1.StatefulSetStatus = status_of(state.stateful_set)
    set_counts(new, counts, always=("replicas", "availableReplicas"))
    new["currentRevision"], new["updateRevision"] = current_name, update_name
    new["collisionCount"] = state.revisions.collisions
    new["observedGeneration"] = meta(state.stateful_set).generation
    return new


def _partition(state: StatefulSetState) -> int:
    """Return the number of Pods with the lowest ordinals that keep the current revision."""
    rolling = (state.stateful_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _is_running_and_ready(pod: Pod) -> bool:
    return pod.status.phase == "Running" and pod.is_ready
