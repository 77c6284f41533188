"""Rate of evictions in each zone. It is lower or zero if so many nodes fail that the network may be the cause.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go `handleDisruption`,
`ComputeZoneState` (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Final

from sampan.controllers.node_lifecycle.health import ready_status
from sampan.kinds import core_v1
from sampan.resource import meta

RATE: Final = 0.1
"""Normal rate of evictions, in nodes per second."""
SECONDARY_RATE: Final = 0.01
LARGE_CLUSTER: Final = 50
_UNHEALTHY_SHARE: Final = 0.55
EXCLUDED_LABEL: Final = "node.kubernetes.io/exclude-disruption"


def zone_of(node: core_v1.Node) -> str:
    """Return the zone and region of a node; empty without labels."""
    labels = meta(node).labels
    region, zone = labels.get("topology.kubernetes.io/region", ""), labels.get("topology.kubernetes.io/zone", "")
    return f"{region}:\x00:{zone}" if region or zone else ""


def rates(nodes: Iterable[core_v1.Node]) -> Mapping[str, float]:
    """Return the rate of evictions in each zone, in nodes per second."""
    zones: dict[str, list[bool]] = {}
    for node in nodes:
        if EXCLUDED_LABEL not in meta(node).labels:
            zones.setdefault(zone_of(node), []).append(ready_status(node) == "True")
    if zones and not any(any(ready) for ready in zones.values()):
        return dict.fromkeys(zones, 0.0)
    return {zone: _rate(ready) for zone, ready in zones.items()}


def _rate(ready: list[bool]) -> float:
    bad = ready.count(False)
    if bad > 2 and any(ready) and bad / len(ready) >= _UNHEALTHY_SHARE:
        return SECONDARY_RATE if len(ready) > LARGE_CLUSTER else 0.0
    return RATE


class TaintingRate:
    """Tracks the time of the last taint in each zone."""

    def __init__(self) -> None:
        self._last: dict[str, dt.datetime] = {}

    def wait_s(self, zone: str, rate: float, now: dt.datetime) -> float | None:
        """Return the seconds until the next node may be tainted, 0 for now; None while the rate is 0."""
        if rate <= 0:
            return None
        last = self._last.get(zone)
        return 0.0 if last is None else max(1 / rate - (now - last).total_seconds(), 0.0)

    def tainted(self, zone: str, now: dt.datetime) -> None:
        """Record that a node of the zone has been tainted."""
        self._last[zone] = now
