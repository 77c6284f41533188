"""Whether a node still tells of itself: pure decisions.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go `tryUpdateNodeHealth` (1.36).
"""

import datetime as dt
from typing import Final, NamedTuple

from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time, parse_time
from sampan.resource import Object, meta

MONITOR_GRACE_S: Final = 50.0
"""How long a node may say nothing."""
STARTUP_GRACE_S: Final = 60.0
"""The same for one that has never said how it is."""
_TOLD: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class Sign(NamedTuple):
    """What changes whenever a node tells of itself."""

    heartbeat: str
    renewal: str


class Probe(NamedTuple):
    """The last sign of a node, and when it was noticed here: clocks of nodes may be wrong."""

    sign: Sign
    at: dt.datetime


def ready_status(node: Object) -> str:
    """`True`, `False` or `Unknown`; empty when nothing is told."""
    ready = find_status_condition(node.get("status") or {}, "Ready")
    return "" if ready is None else str(ready.get("status"))


def probe_of(node: Object, lease: Object | None, before: Probe | None, now: dt.datetime) -> Probe:
    """The probe after a look."""
    ready = find_status_condition(node.get("status") or {}, "Ready") or {}
    renewal = ((lease or {}).get("spec") or {}).get("renewTime") or ""
    sign = Sign(ready.get("lastHeartbeatTime") or "", renewal)
    if before is not None:
        return before if before.sign == sign else Probe(sign, now)
    created = meta(node).creation_timestamp
    return Probe(sign, now if ready or renewal or not created else parse_time(created))


def silent_in_s(node: Object, probe: Probe, now: dt.datetime) -> float:
    """The seconds until a node that stays silent is given up; ≤ 0: it is."""
    grace_s = MONITOR_GRACE_S if ready_status(node) else STARTUP_GRACE_S
    return grace_s - (now - probe.at).total_seconds()


def given_up(node: Object, now: dt.datetime) -> list[Object]:
    """The conditions of a node that says nothing any more."""
    conditions = [dict(each) for each in (node.get("status") or {}).get("conditions") or ()]
    by_type = {each["type"]: each for each in conditions}
    for kind in _TOLD:
        condition = by_type.get(kind)
        if condition is None:
            unknown = {"type": kind, "reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."}
            unknown |= {"status": "Unknown", "lastTransitionTime": format_time(now)}
            created = meta(node).creation_timestamp
            conditions.append(unknown | ({"lastHeartbeatTime": created} if created else {}))
        elif condition["status"] != "Unknown":
            condition |= {"status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": format_time(now)}
            condition["message"] = "Kubelet stopped posting node status."
    return conditions
