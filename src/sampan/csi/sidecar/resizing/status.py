"""States of an expansion in the status of a claim, as pure functions.

Source: external-resizer pkg/controller/resize_status.go, pkg/util/util.go `MergeResizeConditionsOfPVC`.
"""

from __future__ import annotations

import copy
from typing import Final, Literal

from sampan.csi.sidecar.resizing.decision import CONTROLLER_IN_PROGRESS, CONTROLLER_INFEASIBLE, NODE_PENDING
from sampan.kinds import core_v1

_CONDITIONS: Final = frozenset({"Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"})
_PENDING: Final = "Waiting for user to (re-)start a pod to finish file system resize of volume on node."


def in_progress(claim: core_v1.PersistentVolumeClaim, size: str, now: str) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim before its volume is expanded. A repeated expansion keeps the conditions."""
    status = _status(claim)
    repeated = (status.get("allocatedResources") or {}).get("storage") == size
    _set_condition(status, "Resizing", "", now, keep=repeated)
    if not repeated:
        _set(status, "allocatedResourceStatuses", CONTROLLER_IN_PROGRESS)
    _set(status, "allocatedResources", size)
    return status


def node_pending(claim: core_v1.PersistentVolumeClaim, now: str) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim whose file system the node has to expand."""
    status = _status(claim)
    _set_condition(status, "FileSystemResizePending", _PENDING, now, keep=True)
    _set(status, "allocatedResourceStatuses", NODE_PENDING)
    return status


def finished(claim: core_v1.PersistentVolumeClaim, size: str) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim that has the new size."""
    status = _status(claim)
    status["conditions"] = [each for each in status.get("conditions") or () if each["type"] not in _CONDITIONS]
    _set(status, "capacity", size)
    states = status.get("allocatedResourceStatuses") or {}
    states.pop("storage", None)
    if not states:
        status.pop("allocatedResourceStatuses", None)
    return status


def failed(
    claim: core_v1.PersistentVolumeClaim, error: str, now: str, *, infeasible: bool
) -> core_v1.PersistentVolumeClaimStatus:
    """Return the status of a claim whose expansion the driver has refused."""
    status = _status(claim)
    _set_condition(status, "ControllerResizeError", f"failed to expand pvc with {error}", now, keep=True)
    if infeasible:
        _set(status, "allocatedResourceStatuses", CONTROLLER_INFEASIBLE)
    return status


def _status(claim: core_v1.PersistentVolumeClaim) -> core_v1.PersistentVolumeClaimStatus:
    return copy.deepcopy(claim.get("status") or {})


def _set(
    status: core_v1.PersistentVolumeClaimStatus,
    field: Literal["allocatedResourceStatuses", "allocatedResources", "capacity"],
    value: str,
) -> None:
    before: dict[str, str] = status.get(field) or {}
    status[field] = {**before, "storage": value}


def _set_condition(
    status: core_v1.PersistentVolumeClaimStatus, type: str, message: str, now: str, *, keep: bool
) -> None:
    """Set a condition. `keep`: keep the other conditions of expansions."""
    condition: core_v1.PersistentVolumeClaimCondition = {"type": type, "status": "True", "lastTransitionTime": now}
    if message:
        condition["message"] = message
    others = [
        each
        for each in status.get("conditions") or ()
        if each["type"] != type and (keep or each["type"] not in _CONDITIONS)
    ]
    status["conditions"] = [*others, condition]
