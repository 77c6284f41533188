"""`SliceNames`: names and addresses of one EndpointSlice, prepared once for all queries.

The endpoints of a Service are those of its slices. Functions of this module select from them lazily. So a response that
is cut at the size of a packet costs no more than its records, and one step for each slice.
"""

import ipaddress
import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeVar

from sampan.dns.message import Type
from sampan.dns.objects import EndpointSlice

_PORT_MAX: Final = 65_535
"""The API accepts any number in an EndpointSlice; an SRV record cannot have it."""
T = TypeVar("T")
Address = tuple[Type, bytes]
"""Type of the record of an address, and its data."""
WEIGHTS: Final = 100
"""Sum of the weights of all SRV records of a name, unless they are more than this."""


@dataclass(frozen=True, slots=True)
class SliceNames:
    """Endpoints of a slice that are published. Values without duplicates."""

    addresses: Mapping[Type, Sequence[bytes]]
    by_label: Mapping[str, Sequence[Address]]
    labels: Sequence[str]
    """The keys of `by_label`."""
    by_address: Mapping[bytes, Sequence[str]]
    """Labels of an address."""
    ports: Mapping[tuple[str, str], int]
    """Number of the port with this name and protocol, both in lower case."""
    protocols: frozenset[str]
    """Protocols of ports with names."""


def names_of(slice: EndpointSlice, with_unready: bool) -> SliceNames:
    """Return the names of a slice. Addresses that cannot be in a record are left out.

    `with_unready`: publish endpoints that are not ready, too.
    """
    addresses: dict[Type, dict[bytes, None]] = {Type.A: {}, Type.AAAA: {}}
    by_label: dict[str, dict[Address, None]] = {}
    by_address: dict[bytes, dict[str, None]] = {}
    for endpoint in slice.endpoints or ():
        if not (with_unready or endpoint.is_ready):
            continue
        for text, label in endpoint.names():
            found = packed(text)
            if found is not None:
                addresses[found[0]][found[1]] = None
                by_label.setdefault(label, {})[found] = None
                by_address.setdefault(found[1], {})[label] = None
    ports = {
        (each.name.lower(), (each.protocol or "TCP").lower()): each.port
        for each in slice.ports or ()
        if each.name and each.port and 0 < each.port <= _PORT_MAX
    }
    return SliceNames(
        {type: tuple(found) for type, found in addresses.items()},
        {label: tuple(found) for label, found in by_label.items()},
        tuple(by_label),
        {data: tuple(labels) for data, labels in by_address.items()},
        ports,
        frozenset(protocol for _, protocol in ports),
    )


def packed(address: str) -> Address | None:
    """Return the data of an IP address for its record; None if it is not an IP address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    return (Type.A if parsed.version == 4 else Type.AAAA), parsed.packed


def has_port(slices: Iterable[SliceNames], protocol: str) -> bool:
    """Return True if an endpoint has a named port of this protocol (lower case)."""
    return any(each.labels and protocol in each.protocols for each in slices)


def random_addresses(slices: Sequence[SliceNames], type: Type) -> Iterator[bytes]:
    """Yield the addresses of a type in random order."""
    return _distinct(_shuffled([each.addresses[type] for each in slices]))


def addresses_at(slices: Iterable[SliceNames], label: str) -> dict[Address, None]:
    """Return the addresses of the endpoints with a label."""
    return {found: None for each in slices for found in each.by_label.get(label, ())}


def addresses_of(slices: Iterable[SliceNames], labels: Iterable[str]) -> Iterator[tuple[str, Address]]:
    """Yield the addresses of the endpoints with one of these labels, in one pass over the endpoints."""
    desired = dict.fromkeys(labels)
    found: dict[str, dict[Address, None]] = {label: {} for label in desired}
    for each in slices:
        # The shorter one of both, because many slices may have one endpoint each.
        for label in desired if len(desired) < len(each.labels) else each.labels:
            if label in found:
                found[label].update(dict.fromkeys(each.by_label.get(label, ())))
    return ((label, address) for label, addresses in found.items() for address in addresses)


def weight_of(count: int) -> int:
    """Return the weight of each of `count` SRV records of a name: an equal part of `WEIGHTS`, at least 1."""
    return max(1, WEIGHTS // max(1, count))


@dataclass(frozen=True, slots=True)
class Targets:
    """Endpoints that have a port: labels with port numbers, for SRV records."""

    groups: Sequence[tuple[int, Sequence[str]]]
    """Port number and labels of each slice."""

    @property
    def weight(self) -> int:
        """Weight of each record."""
        if sum(len(labels) for _, labels in self.groups) > 2 * WEIGHTS:
            return 1  # Without counting each endpoint once: two IP families may have the same names.
        return weight_of(len({(label, number) for number, labels in self.groups for label in labels}))

    def __bool__(self) -> bool:
        return any(labels for _, labels in self.groups)

    def in_random_order(self) -> Iterator[tuple[str, int]]:
        """Yield label and port number of each endpoint."""
        return _distinct(_shuffled([_Numbered(number, labels) for number, labels in self.groups]))


def targets_of(slices: Iterable[SliceNames], port: str, protocol: str) -> Targets:
    """Return the endpoints that have a port with this name and protocol (lower case)."""
    key = port, protocol
    return Targets([(each.ports[key], each.labels) for each in slices if key in each.ports])


class _Numbered(Sequence[tuple[str, int]]):
    """Labels of a slice, each with the same port number."""

    def __init__(self, number: int, labels: Sequence[str]) -> None:
        self._number, self._labels = number, labels

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> tuple[str, int]:  # type: ignore[override]  # no slices are needed
        return self._labels[index], self._number


def _shuffled(groups: Sequence[Sequence[T]]) -> Iterator[T]:
    """Yield the items of all groups in random order. The cost of an item does not depend on their number."""
    ends = list(accumulate(map(len, groups)))
    moved: dict[int, int] = {}
    # The shuffle of Fisher and Yates; `moved` has the positions that differ from the original order.
    for left in range(ends[-1] if ends else 0, 0, -1):
        chosen = int(random.random() * left)
        position = moved.get(chosen, chosen)
        moved[chosen] = moved.get(left - 1, left - 1)
        group = bisect_right(ends, position)
        yield groups[group][position - (ends[group - 1] if group else 0)]


def _distinct(items: Iterable[T]) -> Iterator[T]:
    yielded: set[T] = set()
    for item in items:
        if item not in yielded:
            yielded.add(item)
            yield item
