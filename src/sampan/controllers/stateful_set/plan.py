"""What one look at a StatefulSet finds, and what follows from it: decisions alone.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go (1.36).
"""

import datetime as dt
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.availability import is_available
from sampan.controllers.history import template_of
from sampan.controllers.stateful_set.identity import ordinal_of, ordinals, revision_name_of
from sampan.controllers.status import status_of
from sampan.loops.views import Pod
from sampan.resource import Object, meta

ROLLING_UPDATE: Final = "RollingUpdate"


class Step(enum.Enum):
    """What is to be done with one Pod."""

    CREATE = enum.auto()
    DELETE = enum.auto()
    KEEP = enum.auto()
    """Nothing, and those after it may have their turn."""
    WAIT = enum.auto()
    """Nothing, and nothing with those after it either, as long as it is so."""


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions that a set is between; the same one when nothing is rolled out."""

    current: Object
    update: Object
    collisions: int
    """How often the name of a revision was taken."""

    @property
    def current_name(self) -> str:
        """The name of the one that Pods are led away from."""
        return meta(self.current).name

    @property
    def update_name(self) -> str:
        """The name of the one that Pods are led to."""
        return meta(self.update).name


@dataclass(frozen=True, slots=True)
class Seen:
    """A set and its Pods. Made by `look`."""

    stateful_set: Object
    revisions: Revisions
    pods: Sequence[Pod]
    now: dt.datetime
    replicas: Mapping[int, Pod | None]
    """By ordinal, in order: those that there should be; None where there is none."""
    condemned: Sequence[Pod]
    """Those that are too many, the highest ordinal first."""

    @property
    def is_ordered(self) -> bool:
        """Whether one Pod is dealt with after the other."""
        return bool(self.stateful_set["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def min_ready_s(self) -> int:
        """How long a Pod is ready before it counts as available."""
        return int(self.stateful_set["spec"].get("minReadySeconds") or 0)

    def is_available(self, pod: Pod | None) -> bool:
        """Whether a Pod is there for others, and stays."""
        if pod is None or pod.metadata.deletion_timestamp is not None:
            return False
        return is_available(pod, self.min_ready_s, self.now)

    @property
    def first_unavailable(self) -> int | None:
        """The lowest ordinal that is not available; those that should be there come before those that should not."""
        for ordinal, pod in self.replicas.items():
            if not self.is_available(pod):
                return ordinal
        return next((ordinal_of(pod) for pod in reversed(self.condemned) if not self.is_available(pod)), None)


def look(stateful_set: Object, revisions: Revisions, pods: Sequence[Pod], now: dt.datetime) -> Seen:
    """Put the Pods of a set in their places. A Pod whose name says no ordinal has none."""
    wanted = ordinals(stateful_set)
    found = {ordinal_of(pod): pod for pod in pods}
    condemned = [found[ordinal] for ordinal in sorted(found, reverse=True) if ordinal >= 0 and ordinal not in wanted]
    return Seen(stateful_set, revisions, pods, now, {ordinal: found.get(ordinal) for ordinal in wanted}, condemned)


def template_for(seen: Seen, ordinal: int) -> tuple[Object, str]:
    """The template that a new Pod with an ordinal is made of, and the name of its revision."""
    strategy = seen.stateful_set["spec"].get("updateStrategy") or {}
    wanted = ordinals(seen.stateful_set)
    behind = 0
    if strategy.get("rollingUpdate") is not None:
        behind = _partition(seen)
    elif strategy.get("type") == ROLLING_UPDATE:
        behind = int((seen.stateful_set.get("status") or {}).get("currentReplicas") or 0)
    revision = seen.revisions.current if ordinal < wanted.start + behind else seen.revisions.update
    return template_of(revision), meta(revision).name


def step(seen: Seen, pod: Pod | None) -> Step:
    """What is to be done with a Pod that should be there.

    In order, those after it come only when it is available. A Pod that has ended is replaced, however it has ended.
    """
    if pod is None:
        return Step.CREATE
    is_terminating = pod.metadata.deletion_timestamp is not None
    if pod.is_terminated:
        return Step.WAIT if is_terminating else Step.DELETE
    if seen.is_ordered and not (_is_running_and_ready(pod) and seen.is_available(pod)):
        return Step.WAIT
    return Step.KEEP


def condemned_step(seen: Seen, pod: Pod) -> Step:
    """What is to be done with a Pod that is too many.

    In order, one that is not available goes only if it is the first such one: no other may be worse off meanwhile.
    """
    if pod.metadata.deletion_timestamp is not None:
        return Step.WAIT if seen.is_ordered else Step.KEEP
    is_well = _is_running_and_ready(pod) and seen.is_available(pod)
    if seen.is_ordered and not is_well and ordinal_of(pod) != seen.first_unavailable:
        return Step.WAIT
    return Step.DELETE


def next_outdated(seen: Seen) -> Pod | None:
    """The Pod that the roll-out deletes next: of the highest ordinal, when all above it are updated and available."""
    if (seen.stateful_set["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return None
    for pod in reversed(list(seen.replicas.values())[_partition(seen) :]):
        if pod is None or pod.is_terminated:
            return None
        is_outdated = revision_name_of(pod) != seen.revisions.update_name
        if is_outdated and pod.metadata.deletion_timestamp is None:
            return pod
        if not seen.is_available(pod):
            return None
    return None


def status(seen: Seen) -> Object:
    """The status that tells of the Pods as they were found; of a roll-out that is complete it says so."""
    deleting = meta(seen.stateful_set).deletion_timestamp is not None
    pods = seen.pods if deleting else [pod for pod in (*seen.replicas.values(), *seen.condemned) if pod is not None]
    names = [revision_name_of(pod) for pod in pods if pod.metadata.deletion_timestamp is None]
    ready = [pod for pod in pods if _is_running_and_ready(pod)]
    current_name, update_name = seen.revisions.current_name, seen.revisions.update_name
    counts = {
        "replicas": len(pods),
        "readyReplicas": len(ready),
        "availableReplicas": sum(is_available(pod, seen.min_ready_s, seen.now) for pod in ready),
        "currentReplicas": names.count(current_name),
        "updatedReplicas": names.count(update_name),
    }
    wanted = len(seen.replicas)
    is_rolling = (seen.stateful_set["spec"].get("updateStrategy") or {}).get("type") == ROLLING_UPDATE
    if is_rolling and counts["updatedReplicas"] == counts["readyReplicas"] == counts["replicas"] == wanted:
        counts["currentReplicas"], current_name = wanted, update_name
    told = status_of(seen.stateful_set)
    for name, count in counts.items():
        if count or name in ("replicas", "availableReplicas"):
            told[name] = count
        else:
            told.pop(name, None)
    told |= {"currentRevision": current_name, "updateRevision": update_name}
    told |= {"collisionCount": seen.revisions.collisions, "observedGeneration": meta(seen.stateful_set).generation}
    return told


def _partition(seen: Seen) -> int:
    """How many Pods, from the first on, stay at the current revision."""
    rolling = (seen.stateful_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _is_running_and_ready(pod: Pod) -> bool:
    return pod.status.phase == "Running" and pod.is_ready
