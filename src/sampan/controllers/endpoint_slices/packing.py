"""Packing of endpoints into slices with few and small changes, as pure functions on dicts.

Source: staging k8s.io/endpointslice reconciler.go `reconcileByPortMapping`, `finalize`, util/endpointset.go (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sampan.kinds import discovery_v1, meta_v1
from sampan.resource import meta

PortsKey = tuple[Hashable, ...]
EndpointKey = tuple[Hashable, ...]


class SliceUpdate(NamedTuple):
    """A slice before and after a change."""

    before: discovery_v1.EndpointSlice
    after: discovery_v1.EndpointSlice


@dataclass(slots=True)
class SliceChanges:
    """Writes that bring the slices of a Service to the desired endpoints."""

    create: list[discovery_v1.EndpointSlice] = field(default_factory=list)
    update: list[SliceUpdate] = field(default_factory=list)
    delete: list[discovery_v1.EndpointSlice] = field(default_factory=list)

    def add(self, other: SliceChanges) -> None:
        """Add the changes of another set."""
        self.create += other.create
        self.update += other.update
        self.delete += other.delete

    def recycle(self) -> None:
        """Turn pairs of a deletion and a creation into updates, so that watchers get fewer events."""
        for old in list(self.delete):
            if self.create:
                new = self.create.pop()
                metadata: meta_v1.ObjectMeta = {**old["metadata"], "labels": new["metadata"]["labels"]}
                self.update.append(SliceUpdate(old, {**new, "metadata": metadata}))
                self.delete.remove(old)


def ports_key(ports: Iterable[discovery_v1.EndpointPort] | None) -> PortsKey:
    """Return a key that is equal for equal ports in any order."""
    return tuple(
        sorted(
            (
                port.get("name") or "",
                port.get("port") or 0,
                port.get("protocol") or "TCP",
                port.get("appProtocol") or "",
            )
            for port in ports or ()
        )
    )


def endpoint_key(endpoint: discovery_v1.Endpoint) -> EndpointKey:
    """Return the identity of an endpoint. Its other fields may change in place."""
    target = endpoint.get("targetRef") or {}
    addresses = tuple(sorted(endpoint.get("addresses") or ()))
    return (addresses, endpoint.get("hostname") or "", target.get("namespace"), target.get("name"))


def endpoints_of(slice: discovery_v1.EndpointSlice) -> list[discovery_v1.Endpoint]:
    """Return the endpoints in a slice; an empty list for null or an absent field."""
    return slice.get("endpoints") or []


def is_same(one: discovery_v1.Endpoint, other: discovery_v1.Endpoint) -> bool:
    """Return True if two endpoints with the same key have equal fields. Hints are compared elsewhere."""
    return _compared(one) == _compared(other)


def _compared(endpoint: discovery_v1.Endpoint) -> tuple[object, ...]:
    conditions = endpoint.get("conditions") or {}
    target = {key: value for key, value in (endpoint.get("targetRef") or {}).items() if key != "resourceVersion"}
    return (
        endpoint.get("nodeName"),
        endpoint.get("zone"),
        conditions.get("ready"),
        conditions.get("serving"),
        conditions.get("terminating"),
        target,
    )


def pack(
    existing: Iterable[discovery_v1.EndpointSlice],
    desired: Iterable[discovery_v1.Endpoint],
    new_slice: Callable[[], discovery_v1.EndpointSlice],
    size_max: int,
) -> SliceChanges:
    """Return the changes that bring the desired endpoints of one set of ports into slices.

    Slices that change anyway are filled first, starting with the fullest. The remaining endpoints go into one unchanged
    slice if they fit, else into new slices. `new_slice` creates an empty slice with the labels that all slices need.
    """
    left = {endpoint_key(endpoint): endpoint for endpoint in desired}
    labels = new_slice()["metadata"]["labels"]
    changes = SliceChanges()
    unchanged: list[discovery_v1.EndpointSlice] = []
    for slice in existing:
        kept = _take(left, slice)
        same = len(kept) == len(endpoints_of(slice)) and all(map(is_same, kept, endpoints_of(slice)))
        if same and meta(slice).labels == labels:
            unchanged.append(slice)
        elif not kept and endpoints_of(slice):
            changes.delete.append(slice)
        else:
            changes.update.append(SliceUpdate(slice, with_endpoints(slice, slice if same else None, kept, labels)))
    for _, after in sorted(changes.update, key=lambda update: -len(endpoints_of(update.after))):
        _fill(after, left, size_max)
    while left:
        before = _best(unchanged, len(left), size_max) if len(left) < size_max else None
        if before is None:
            after = new_slice()
            changes.create.append(after)
        else:
            unchanged.remove(before)
            after = with_endpoints(before, before, list(endpoints_of(before)), labels)
            changes.update.append(SliceUpdate(before, after))
        _fill(after, left, size_max)
    return changes


def with_endpoints(
    slice: discovery_v1.EndpointSlice,
    same: discovery_v1.EndpointSlice | None,
    endpoints: list[discovery_v1.Endpoint],
    labels: dict[str, str],
) -> discovery_v1.EndpointSlice:
    """Return a copy of a slice with these labels.

    Its endpoints are those of the slice `same`, or `endpoints` if `same` is None.
    """
    kept = list(endpoints_of(same)) if same is not None else endpoints
    return {**slice, "metadata": {**slice["metadata"], "labels": labels}, "endpoints": kept}


def _take(
    left: dict[EndpointKey, discovery_v1.Endpoint], slice: discovery_v1.EndpointSlice
) -> list[discovery_v1.Endpoint]:
    """Remove the endpoints that are in a slice from `left`, and return them with their desired fields."""
    keys = map(endpoint_key, endpoints_of(slice))
    return [found for key in keys if (found := left.pop(key, None)) is not None]


def _fill(slice: discovery_v1.EndpointSlice, left: dict[EndpointKey, discovery_v1.Endpoint], size_max: int) -> None:
    endpoints = slice["endpoints"]
    for key in list(left)[: max(size_max - len(endpoints), 0)]:
        endpoints.append(left.pop(key))


def _best(slices: Iterable[discovery_v1.EndpointSlice], count: int, size_max: int) -> discovery_v1.EndpointSlice | None:
    """Return the slice that is fullest after adding `count` endpoints. Empty slices are not considered."""
    rooms = [(size_max - count - len(endpoints_of(slice)), position, slice) for position, slice in enumerate(slices)]
    fitting = [each for each in rooms if 0 <= each[0] < size_max]
    return min(fitting, key=lambda each: each[:2])[2] if fitting else None
