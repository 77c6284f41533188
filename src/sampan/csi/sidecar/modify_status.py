"""States of a modification in the status of a claim, as pure functions.

Source: external-resizer pkg/modifycontroller/modify_status.go, pkg/util/util.go `MergePVCConditions`.
"""

from __future__ import annotations

import copy
from typing import Final

from sampan.csi.errors import CsiError
from sampan.kinds import core_v1

PENDING: Final = "Pending"
IN_PROGRESS: Final = "InProgress"
INFEASIBLE: Final = "Infeasible"
_MODIFYING: Final = "ModifyingVolume"
_ERROR: Final = "ModifyVolumeError"


def pending(claim: core_v1.PersistentVolumeClaim) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim whose class does not exist."""
    status = _status(claim)
    before = status.get("modifyVolumeStatus")
    status["modifyVolumeStatus"] = {**before, "status": PENDING} if before else {"status": PENDING}
    return status


def in_progress(claim: core_v1.PersistentVolumeClaim, target: str, now: str) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim before its volume is modified."""
    status = _status(claim)
    status["modifyVolumeStatus"] = {"targetVolumeAttributesClassName": target, "status": IN_PROGRESS}
    _set_conditions(status, now, _condition(_MODIFYING, f'Modifying volume to "{target}" is in progress.'))
    return status


def failed(
    claim: core_v1.PersistentVolumeClaim, target: str, error: CsiError, now: str, *, final: bool, infeasible: bool
) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim after a failed call. `final`: the volume is not being modified any more."""
    status = _status(claim)
    state = INFEASIBLE if infeasible else IN_PROGRESS
    status["modifyVolumeStatus"] = {"targetVolumeAttributesClassName": target, "status": state}
    result = "failed. Waiting for retry." if final else "is still in progress."
    modifying = _condition(_MODIFYING, f'Modifying volume to "{target}" {result}')
    _set_conditions(status, now, modifying, _condition(_ERROR, error.details, error.code_name))
    return status


def completed(claim: core_v1.PersistentVolumeClaim, target: str) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim whose volume has the attributes of a class."""
    status = _without(_status(claim), _MODIFYING, _ERROR)
    status.pop("modifyVolumeStatus", None)
    status["currentVolumeAttributesClassName"] = target
    return status


def cancelled(claim: core_v1.PersistentVolumeClaim) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim that no longer names a class."""
    return _without(_status(claim), _MODIFYING)


def is_modifying(claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a claim has the condition of a modification."""
    return any(each["type"] == _MODIFYING for each in _status(claim).get("conditions") or ())


def _status(claim: core_v1.PersistentVolumeClaim) -> core_v1.PersistentVolumeClaimStatus:
    return copy.deepcopy(claim.get("status") or {})


def _without(status: core_v1.PersistentVolumeClaimStatus, *types: str) -> core_v1.PersistentVolumeClaimStatus:
    status["conditions"] = [each for each in status.get("conditions") or () if each["type"] not in types]
    return status


def _condition(type: str, message: str, reason: str = "") -> core_v1.PersistentVolumeClaimCondition:
    found: core_v1.PersistentVolumeClaimCondition = {"type": type, "status": "True", "message": message}
    if reason:
        found["reason"] = reason
    return found


def _set_conditions(
    status: core_v1.PersistentVolumeClaimStatus, now: str, *conditions: core_v1.PersistentVolumeClaimCondition
) -> None:
    """Replace conditions of the same type. One with the same reason keeps the time of its transition."""
    present = list(status.get("conditions") or ())
    for new in conditions:
        old = next((each for each in present if each["type"] == new["type"]), None)
        same = old is not None and (old.get("reason"), old["status"]) == (new.get("reason"), new["status"])
        since = old["lastTransitionTime"] if same and old is not None and "lastTransitionTime" in old else now
        made: core_v1.PersistentVolumeClaimCondition = {**new, "lastProbeTime": now, "lastTransitionTime": since}
        if old is None:
            present.append(made)
        else:
            present[present.index(old)] = made
    status["conditions"] = present
