"""`NodeHealthMap`: the last heartbeat of each node.

Lease renewals are recorded in the informer's handler. A thousand nodes renew about a hundred Leases a second, and no
node has to be reconciled for that.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import msgspec

from sampan.controllers.node_lifecycle.health import NodeHealth, health_of
from sampan.core.time import Clock
from sampan.informer.ref import Deletion, Ref
from sampan.kinds import coordination_v1, core_v1
from sampan.resource import meta
from sampan.resource.view import view_decoder

LEASE_NAMESPACE = "kube-node-lease"


class _LeaseSpec(msgspec.Struct, rename="camel", gc=False):
    renew_time: str | None = None


class _Lease(msgspec.Struct, gc=False):
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


_decode = view_decoder(_Lease)


class NodeHealthMap:
    """Health of all nodes. It is a handler of the informer of Leases."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._health: dict[str, NodeHealth] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._health

    def observe(self, node: core_v1.Node, lease: coordination_v1.Lease | None, now: dt.datetime) -> NodeHealth:
        """Update and return the health of a node."""
        name = meta(node).name
        health = self._health[name] = health_of(node, lease, self._health.get(name), now)
        return health

    def forget(self, name: str) -> bool:
        """Drop the record of a deleted node; return True if there was one."""
        return self._health.pop(name, None) is not None

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Record the renewal of a new Lease."""
        self._record(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Record the renewal of a Lease."""
        self._record(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Do nothing: a deleted Lease is not a heartbeat."""

    def _record(self, ref: Ref[Any]) -> None:
        """Record a renewal. A node without a record is skipped: its first reconciliation reads the Lease."""
        health = self._health.get(ref.name) if ref.namespace == LEASE_NAMESPACE else None
        if health is None:
            return
        renewal = _decode(ref.raw).spec.renew_time or ""
        if renewal != health.heartbeat.renewal:
            self._health[ref.name] = NodeHealth(health.heartbeat._replace(renewal=renewal), self._clock.now())
