"""States of a modification in the status of a claim, as pure functions.

Source: external-resizer pkg/modifycontroller/modify_status.go, pkg/util/util.go `MergePVCConditions`.
"""

import copy
from typing import Any, Final

from sampan.csi.errors import CsiError
from sampan.resource import Object

PENDING: Final = "Pending"
IN_PROGRESS: Final = "InProgress"
INFEASIBLE: Final = "Infeasible"
_MODIFYING: Final = "ModifyingVolume"
_ERROR: Final = "ModifyVolumeError"


def pending(claim: Object) -> Object:
    """Return the status of a claim whose class does not exist."""
    status = _status(claim)
    status["modifyVolumeStatus"] = {**(status.get("modifyVolumeStatus") or {}), "status": PENDING}
    return status


def in_progress(claim: Object, target: str, now: str) -> Object:
    """Return the status of a claim before its volume is modified."""
    status = _status(claim)
    status["modifyVolumeStatus"] = {"targetVolumeAttributesClassName": target, "status": IN_PROGRESS}
    _set_conditions(status, now, _condition(_MODIFYING, f'Modifying volume to "{target}" is in progress.'))
    return status


def failed(claim: Object, target: str, error: CsiError, now: str, *, final: bool, infeasible: bool) -> Object:
    """Return the status of a claim after a failed call. `final`: the volume is not being modified any more."""
    status = _status(claim)
    state = INFEASIBLE if infeasible else IN_PROGRESS
    status["modifyVolumeStatus"] = {"targetVolumeAttributesClassName": target, "status": state}
    result = "failed. Waiting for retry." if final else "is still in progress."
    modifying = _condition(_MODIFYING, f'Modifying volume to "{target}" {result}')
    _set_conditions(status, now, modifying, _condition(_ERROR, error.details, error.code_name))
    return status


def completed(claim: Object, target: str) -> Object:
    """Return the status of a claim whose volume has the attributes of a class."""
    status = _without(_status(claim), _MODIFYING, _ERROR)
    status.pop("modifyVolumeStatus", None)
    status["currentVolumeAttributesClassName"] = target
    return status


def cancelled(claim: Object) -> Object:
    """Return the status of a claim that no longer names a class."""
    return _without(_status(claim), _MODIFYING)


def is_modifying(claim: Object) -> bool:
    """Return True if a claim has the condition of a modification."""
    return any(each["type"] == _MODIFYING for each in _status(claim).get("conditions") or ())


def _status(claim: Object) -> Object:
    return copy.deepcopy(claim.get("status") or {})


def _without(status: Object, *types: str) -> Object:
    status["conditions"] = [each for each in status.get("conditions") or () if each["type"] not in types]
    return status


def _condition(type: str, message: str, reason: str = "") -> dict[str, Any]:
    found = {"type": type, "status": "True", "message": message}
    return {**found, "reason": reason} if reason else found


def _set_conditions(status: Object, now: str, *conditions: dict[str, Any]) -> None:
    """Replace conditions of the same type. One with the same reason keeps the time of its transition."""
    present = list(status.get("conditions") or ())
    for new in conditions:
        old = next((each for each in present if each["type"] == new["type"]), None)
        same = old is not None and (old.get("reason"), old["status"]) == (new.get("reason"), new["status"])
        since = old["lastTransitionTime"] if same and old is not None and "lastTransitionTime" in old else now
        made = {**new, "lastProbeTime": now, "lastTransitionTime": since}
        if old is None:
            present.append(made)
        else:
            present[present.index(old)] = made
    status["conditions"] = present
