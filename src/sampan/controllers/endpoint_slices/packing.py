"""Endpoints into slices, with as few and as small changes as possible: pure functions on dicts.

Source: staging k8s.io/endpointslice reconciler.go `reconcileByPortMapping`, `finalize`, util/endpointset.go (1.36).
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sampan.resource import Object, meta

PortsKey = tuple[Hashable, ...]
EndpointKey = tuple[Hashable, ...]


class SliceUpdate(NamedTuple):
    """A slice as it is, and as it is to be."""

    before: Object
    after: Object


@dataclass(slots=True)
class SliceChanges:
    """What is to be done with slices."""

    create: list[Object] = field(default_factory=list)
    update: list[SliceUpdate] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)

    def add(self, other: "SliceChanges") -> None:
        """Do all of the other too."""
        self.create += other.create
        self.update += other.update
        self.delete += other.delete

    def recycle(self) -> None:
        """Let slices that would go become those that would be made: fewer events for who watches."""
        for old in list(self.delete):
            if self.create:
                new = self.create.pop()
                metadata = {**old["metadata"], "labels": new["metadata"]["labels"]}
                self.update.append(SliceUpdate(old, {**new, "metadata": metadata}))
                self.delete.remove(old)


def ports_key(ports: Iterable[Object] | None) -> PortsKey:
    """The same for the same ports, in whatever order."""
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


def endpoint_key(endpoint: Object) -> EndpointKey:
    """Who an endpoint is; what else it says may change in place."""
    target = endpoint.get("targetRef") or {}
    addresses = tuple(sorted(endpoint.get("addresses") or ()))
    return (addresses, endpoint.get("hostname") or "", target.get("namespace"), target.get("name"))


def endpoints_of(slice: Object) -> list[Object]:
    """The endpoints in a slice."""
    found: list[Object] = slice.get("endpoints") or []
    return found


def is_same(one: Object, other: Object) -> bool:
    """Whether two endpoints of the same key say the same. Hints are looked at elsewhere."""
    return _said(one) == _said(other)


def _said(endpoint: Object) -> tuple[object, ...]:
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
    existing: Iterable[Object], wanted: Iterable[Object], new_slice: Callable[[], Object], size_max: int
) -> SliceChanges:
    """The changes that bring the wanted endpoints of one set of ports into slices.

    Slices that change anyway are filled first, the fullest before the others; what is left goes into one unchanged
    slice, if it fits, or into new ones. `new_slice` makes an empty one, whose labels all are to have.
    """
    left = {endpoint_key(endpoint): endpoint for endpoint in wanted}
    labels = new_slice()["metadata"]["labels"]
    changes = SliceChanges()
    unchanged: list[Object] = []
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


def with_endpoints(slice: Object, same: Object | None, endpoints: list[Object], labels: dict[str, str]) -> Object:
    """A copy of a slice; its endpoints are those of `same` as they are, or else the given ones."""
    kept = list(endpoints_of(same)) if same is not None else endpoints
    return {**slice, "metadata": {**slice["metadata"], "labels": labels}, "endpoints": kept}


def _take(left: dict[EndpointKey, Object], slice: Object) -> list[Object]:
    """Those of the wanted endpoints that are in a slice, as they are wanted."""
    keys = map(endpoint_key, endpoints_of(slice))
    return [found for key in keys if (found := left.pop(key, None)) is not None]


def _fill(slice: Object, left: dict[EndpointKey, Object], size_max: int) -> None:
    endpoints = slice["endpoints"]
    for key in list(left)[: max(size_max - len(endpoints), 0)]:
        endpoints.append(left.pop(key))


def _best(slices: Iterable[Object], count: int, size_max: int) -> Object | None:
    """The slice that is the fullest with so many more endpoints; an empty one is not worth it."""
    rooms = [(size_max - count - len(endpoints_of(slice)), position, slice) for position, slice in enumerate(slices)]
    fitting = [each for each in rooms if 0 <= each[0] < size_max]
    return min(fitting, key=lambda each: each[:2])[2] if fitting else None
