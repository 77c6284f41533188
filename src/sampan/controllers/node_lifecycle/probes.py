"""`Probes`: the last sign of life of each node.

A renewed lease is noted as the informer tells of it: of a thousand nodes a hundred do that in a second, and none of
them needs to be looked at for it.
"""

import datetime as dt
from typing import Any

import msgspec

from sampan.controllers.node_lifecycle.health import Probe, probe_of
from sampan.core.time import Clock
from sampan.informer.ref import Deletion, Ref
from sampan.resource import Object, meta

LEASE_NAMESPACE = "kube-node-lease"


class _LeaseSpec(msgspec.Struct, rename="camel", gc=False):
    renew_time: str | None = None


class _Lease(msgspec.Struct, gc=False):
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


_glance = msgspec.json.Decoder(_Lease).decode


class Probes:
    """What is remembered of nodes; a handler of the informer of Leases."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._probes: dict[str, Probe] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._probes

    def look(self, node: Object, lease: Object | None, now: dt.datetime) -> Probe:
        """The probe of a node after a look at it."""
        name = meta(node).name
        probe = self._probes[name] = probe_of(node, lease, self._probes.get(name), now)
        return probe

    def forget(self, name: str) -> bool:
        """A node is gone; whether anything was known of it."""
        return self._probes.pop(name, None) is not None

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """A Lease is there."""
        self._note(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """A Lease has changed."""
        self._note(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """That is no sign of life."""

    def _note(self, ref: Ref[Any]) -> None:
        """A node that has not been looked at yet is left to the first look, which reads its Lease."""
        probe = self._probes.get(ref.name) if ref.namespace == LEASE_NAMESPACE else None
        if probe is None:
            return
        renewal = _glance(ref.raw).spec.renew_time or ""
        if renewal != probe.sign.renewal:
            self._probes[ref.name] = Probe(probe.sign._replace(renewal=renewal), self._clock.now())
