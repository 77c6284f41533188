"""Health of a node, from its heartbeats, as pure functions.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go `tryUpdateNodeHealth` (1.36).
"""

from __future__ import annotations

import datetime as dt
from typing import Final, NamedTuple

from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time, parse_time
from sampan.kinds import coordination_v1, core_v1
from sampan.resource import meta

MONITOR_GRACE_S: Final = 50.0
"""Longest time a node may be silent."""
STARTUP_GRACE_S: Final = 60.0
"""Longest time a new node may be silent before its first status."""
_REPORTED: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class Heartbeat(NamedTuple):
    """Values that change with each heartbeat of a node."""

    heartbeat: str
    renewal: str


class NodeHealth(NamedTuple):
    """The last heartbeat of a node, and the local time it was noticed. The node's own clock may be wrong."""

    heartbeat: Heartbeat
    at: dt.datetime


def ready_status(node: core_v1.Node) -> str:
    """Return the status of the condition Ready; empty without the condition."""
    ready = find_status_condition(node.get("status"), "Ready")
    return "" if ready is None else str(ready.get("status"))


def health_of(
    node: core_v1.Node, lease: coordination_v1.Lease | None, before: NodeHealth | None, now: dt.datetime
) -> NodeHealth:
    """Return the updated health of a node."""
    ready = find_status_condition(node.get("status"), "Ready") or {}
    spec = lease.get("spec") if lease is not None else None
    renewal = (spec.get("renewTime") if spec else None) or ""
    heartbeat = Heartbeat(ready.get("lastHeartbeatTime") or "", renewal)
    if before is not None:
        return before if before.heartbeat == heartbeat else NodeHealth(heartbeat, now)
    created = meta(node).creation_timestamp
    return NodeHealth(heartbeat, now if ready or renewal or not created else parse_time(created))


def silent_in_s(node: core_v1.Node, health: NodeHealth, now: dt.datetime) -> float:
    """Return the seconds until a silent node is marked unknown; ≤ 0: now."""
    grace_s = MONITOR_GRACE_S if ready_status(node) else STARTUP_GRACE_S
    return grace_s - (now - health.at).total_seconds()


def unknown_conditions(node: core_v1.Node, now: dt.datetime) -> list[core_v1.NodeCondition]:
    """Return the conditions of a node that has become silent."""
    status = node.get("status")
    conditions = [each.copy() for each in (status.get("conditions") if status else None) or ()]
    by_type = {each["type"]: each for each in conditions}
    for kind in _REPORTED:
        condition = by_type.get(kind)
        if condition is None:
            unknown: core_v1.NodeCondition = {
                "type": kind,
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
                "status": "Unknown",
                "lastTransitionTime": format_time(now),
            }
            created = meta(node).creation_timestamp
            if created:
                unknown["lastHeartbeatTime"] = created
            conditions.append(unknown)
        elif condition["status"] != "Unknown":
            condition |= {"status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": format_time(now)}
            condition["message"] = "Kubelet stopped posting node status."
    return conditions
