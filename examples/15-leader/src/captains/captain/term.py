"""`Term`: a Pod that leads, with its epoch. The Lease of a captain stores the current one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.resource import Object

ROLE: Final = "role"
LEADER: Final = "leader"
CAPTAIN: Final = "captains.example.com/captain"
"""Label of the leader: the name of its captain."""
EPOCH: Final = "captains.example.com/epoch"
"""Annotation of a Pod: its newest epoch. A write with an older epoch is refused."""


@dataclass(frozen=True, slots=True)
class Term:
    """One leader's time. An epoch has one leader, because a Lease is written with its resourceVersion."""

    epoch: int
    pod: str = ""
    uid: str = ""

    @classmethod
    def of_lease(cls, lease: Object) -> "Term":
        """Return the term that a Lease stores."""
        spec = lease.get("spec") or {}
        pod, _, uid = (spec.get("holderIdentity") or "").partition("/")
        return cls(spec.get("leaseTransitions") or 0, pod, uid)

    def leads(self, pod: Object) -> bool:
        """Return True if the Pod is the leader of this term."""
        return bool(self.uid) and self.uid == pod["metadata"]["uid"]

    def successor(self, pods: Sequence[Object], *, expired: bool) -> "Term | None":
        """Return the next term, or None while this one continues or no Pod can lead."""
        holder = next((pod for pod in pods if self.leads(pod)), None)
        if holder is not None and is_candidate(holder):
            return None
        if holder is not None and not has_ended(holder) and not expired:
            return None
        ready = sorted(pod["metadata"]["name"] for pod in pods if is_candidate(pod))
        if not ready:
            return None
        uids = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
        return Term(self.epoch + 1, ready[0], uids[ready[0]])


def is_candidate(pod: Object) -> bool:
    """Return True if the Pod is ready and stays."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and not has_ended(pod)


def has_ended(pod: Object) -> bool:
    """Return True if the Pod has ended, or its deletion has begun."""
    phase = (pod.get("status") or {}).get("phase")
    return "deletionTimestamp" in pod["metadata"] or phase in ("Succeeded", "Failed")


def is_labelled(pod: Object) -> bool:
    """Return True if the Pod has the label of a leader."""
    return (pod["metadata"].get("labels") or {}).get(ROLE) == LEADER


def epoch_of(pod: Object) -> int:
    """Return the newest epoch of the Pod; 0 for a new Pod."""
    value = (pod["metadata"].get("annotations") or {}).get(EPOCH, "0")
    return int(value) if value.isdecimal() else 0
