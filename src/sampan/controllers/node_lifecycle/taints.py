"""Taints for the conditions of a node, as pure functions.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from sampan.core.time import format_time
from sampan.kinds import core_v1

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
_KEYS: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_OWN_NO_SCHEDULE: Final = frozenset((*_KEYS.values(), UNSCHEDULABLE))
_NO_EXECUTE: Final = {"False": NOT_READY, "Unknown": UNREACHABLE}


def taints_of(node: core_v1.Node) -> list[core_v1.Taint]:
    """Return a new list of the taints, which the caller may change."""
    return list((node.get("spec") or {}).get("taints") or ())


def wants_no_execute(node: core_v1.Node, ready: str) -> bool:
    """Return True if the node needs a NoExecute taint that it does not have."""
    return ready in _NO_EXECUTE and not _has(taints_of(node), _NO_EXECUTE[ready])


def swaps_no_execute(node: core_v1.Node, ready: str) -> bool:
    """Return True if the node has a NoExecute taint, but not the one it needs.

    Exchanging them evicts no further Pods.
    """
    return wants_no_execute(node, ready) and any(_has(taints_of(node), key) for key in _NO_EXECUTE.values())


def taints_after(node: core_v1.Node, ready: str, now: dt.datetime, *, no_execute: bool) -> list[core_v1.Taint]:
    """Return the taints that a node should have; a missing NoExecute taint is added only with `no_execute`."""
    before = taints_of(node)
    effects = _no_schedule_keys(node)
    keep_execute = _NO_EXECUTE.get(ready)
    after: list[core_v1.Taint] = []
    for taint in before:
        key, effect = taint.get("key"), taint.get("effect")
        if effect == NO_SCHEDULE and key in _OWN_NO_SCHEDULE and key not in effects:
            continue
        # The other NoExecute taint is only removed together with adding the right one, or if the node needs none.
        swapped = keep_execute is None or no_execute
        if effect == NO_EXECUTE and key in _NO_EXECUTE.values() and key != keep_execute and swapped:
            continue
        after.append(taint)
    present = {(taint.get("key"), taint.get("effect")) for taint in after}
    added = format_time(now)
    after += [{"key": k, "effect": NO_SCHEDULE, "timeAdded": added} for k in effects if (k, NO_SCHEDULE) not in present]
    if no_execute and keep_execute is not None and (keep_execute, NO_EXECUTE) not in present:
        after.append({"key": keep_execute, "effect": NO_EXECUTE, "timeAdded": added})
    return after


def _no_schedule_keys(node: core_v1.Node) -> list[str]:
    status = node.get("status")
    conditions = (status.get("conditions") if status else None) or ()
    found = [_KEYS.get((each.get("type"), each.get("status"))) for each in conditions]
    keys = [key for key in found if key is not None]
    return [*keys, UNSCHEDULABLE] if (node.get("spec") or {}).get("unschedulable") else keys


def _has(taints: list[core_v1.Taint], key: str) -> bool:
    return any((taint.get("key"), taint.get("effect")) == (key, NO_EXECUTE) for taint in taints)
