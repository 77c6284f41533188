"""Owners of a StatefulSet's claims: a claim may be deleted with the set, or with its Pod when the set is scaled down.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_utils.go `isClaimOwnerUpToDate`,
`updateClaimOwnerRefForSetAndPod`; stateful_pod_control.go `PodClaimIsStale` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.stateful_set.identity import ordinals
from sampan.kinds import apps_v1
from sampan.resource import OwnerReference, meta

_DELETE: Final = "Delete"


@dataclass(frozen=True, slots=True)
class Owners:
    """The possible owners of a claim, the set and the Pod, as controller references; and the retention policy."""

    stateful_set: OwnerReference
    pod: OwnerReference
    is_condemned: bool
    when_scaled: bool
    """True if claims are deleted with Pods that are scaled down."""
    when_deleted: bool
    """True if claims are deleted with the set."""

    @property
    def expected(self) -> list[OwnerReference]:
        """The owners that the claim should have."""
        if self.when_scaled and self.is_condemned:
            return [self.pod]
        return [self.stateful_set] if self.when_deleted else []


def owners(stateful_set: apps_v1.StatefulSet, ordinal: int, *, pod_name: str, pod_uid: str) -> Owners:
    """Return the possible owners of a Pod's claims. The UID is empty for a Pod that does not exist yet."""
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    metadata = meta(stateful_set)
    return Owners(
        OwnerReference("apps/v1", "StatefulSet", metadata.name, metadata.uid, True, True),
        OwnerReference("v1", "Pod", pod_name, pod_uid, True, True),
        ordinal not in ordinals(stateful_set),
        policy.get("whenScaled") == _DELETE,
        policy.get("whenDeleted") == _DELETE,
    )


def has_other_controller(references: Iterable[OwnerReference], owners: Owners) -> bool:
    """Return True if another object controls the claim, so that the policy cannot be applied.

    Without a policy the result is always False.
    """
    if not owners.when_scaled and not owners.when_deleted:
        return False
    for reference in references:
        match = _match(reference, owners)
        if match is None and reference.controller:
            return True
        if match is not None and match.uid != reference.uid:
            return True
    return False


def new_references(references: Sequence[OwnerReference], owners: Owners) -> list[OwnerReference] | None:
    """Return the owner references that a claim should have; None if they should stay.

    A claim owned by an earlier set or Pod of the same name is left to the garbage collector.
    """
    matching = [reference for reference in references if _match(reference, owners) is not None]
    if any(_is_stale(reference, owners) for reference in matching):
        return None
    others = [reference for reference in references if reference not in matching]
    if has_other_controller(references, owners):
        return others if matching else None
    expected = owners.expected
    is_right = all(reference.controller for reference in matching)
    if is_right and sorted(each.uid for each in matching) == sorted(each.uid for each in expected):
        return None
    return [*others, *expected]


def is_left_over(references: Iterable[OwnerReference], owners: Owners) -> bool:
    """Return True if an earlier Pod of the same name owns the claim, so that the new Pod must wait for its deletion."""
    return owners.when_scaled and any(
        _match(reference, owners) is owners.pod and _is_stale(reference, owners) for reference in references
    )


def _match(reference: OwnerReference, owners: Owners) -> OwnerReference | None:
    """Return the possible owner that a reference names, or None."""
    for match in (owners.stateful_set, owners.pod):
        if (reference.api_version, reference.kind, reference.name) == (match.api_version, match.kind, match.name):
            return match
    return None


def _is_stale(reference: OwnerReference, owners: Owners) -> bool:
    match = _match(reference, owners)
    return match is not None and match.uid != reference.uid
