"""`compiled`: a NetworkPolicy as values that rules and selections are made of. Pure.

Source: pkg/apis/networking/types.go, staging/src/k8s.io/api/networking/v1/types.go (1.36).
"""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sampan.core.label_selectors import EVERYTHING, NOTHING, Selector, selector_from_label_selector
from sampan.node.network_policy.views import IPBlock, NetworkPolicy, NetworkPolicyPeer, PolicyPort

INGRESS: Final = "ingress"
EGRESS: Final = "egress"
DIRECTIONS: Final = (INGRESS, EGRESS)
PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
PORT_MAX: Final = 65535
RULES_MAX: Final = 10_000
"""Rules of one policy in one direction. What its later rules would permit is refused."""


@dataclass(frozen=True, slots=True)
class PodSelection:
    """Selection of Pods as peers."""

    namespace: str | None
    """None: in the namespaces that `namespaces` selects."""
    namespaces: Selector
    pods: Selector

    def selects(self, namespace: str, namespace_labels: Mapping[str, str] | None, labels: Mapping[str, str]) -> bool:
        """Return True if a Pod with these labels is selected. `namespace_labels`: None if they are unknown."""
        if self.namespace is not None:
            return namespace == self.namespace and self.pods.matches(labels)
        return namespace_labels is not None and self.namespaces.matches(namespace_labels) and self.pods.matches(labels)


@dataclass(frozen=True, slots=True)
class Block:
    """Range of addresses."""

    cidr: str
    excluded: tuple[str, ...]
    """Parts that are not in it. They do not overlap."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of one protocol."""

    protocol: str
    ranges: tuple[tuple[int, int], ...] = ()
    """First and last port of each range. They do not overlap."""
    name: str = ""
    """Name of the port in the Pod that receives the connection, instead of ranges. Without both: all ports."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Permitted connections: with any of the peers, to any of the ports."""

    peers: tuple[PodSelection | Block, ...] | None
    """None: with all addresses."""
    ports: tuple[Ports, ...] | None
    """None: all ports of all protocols."""


@dataclass(frozen=True, slots=True)
class Policy:
    """NetworkPolicy with parsed selectors and peers."""

    key: str
    """`namespace/name`."""
    namespace: str
    pods: Selector
    """Pods of the namespace to which the policy applies."""
    permissions: Mapping[str, tuple[Permission, ...]]
    """Permissions of each direction that the policy restricts."""

    def peers(self) -> set[PodSelection]:
        """Return the selections of Pods in all permissions."""
        return {peer for each in self._all() for peer in each.peers or () if isinstance(peer, PodSelection)}

    def port_names(self) -> set[tuple[str, str]]:
        """Return name and protocol of all ports with a name."""
        return {(port.name, port.protocol) for each in self._all() for port in each.ports or () if port.name}

    def _all(self) -> Iterable[Permission]:
        return (each for permissions in self.permissions.values() for each in permissions)


def compiled(policy: NetworkPolicy) -> Policy:
    """Return the policy. Peers that cannot be read select nothing, and so permit nothing.

    Raises an error if it is not clear to which Pods the policy applies: none would mean that all is permitted.
    """
    namespace, spec = policy.metadata.namespace, policy.spec
    rules = {
        INGRESS: [(rule.sources, rule.ports) for rule in spec.ingress],
        EGRESS: [(rule.destinations, rule.ports) for rule in spec.egress],
    }
    permissions = {
        direction: _bounded(_permission(namespace, peers, ports) for peers, ports in rules[direction])
        for direction in DIRECTIONS
        if direction.capitalize() in spec.directions
    }
    return Policy(
        f"{namespace}/{policy.metadata.name}", namespace, selector_from_label_selector(spec.pod_selector), permissions
    )


def _permission(namespace: str, peers: Sequence[NetworkPolicyPeer], ports: Sequence[PolicyPort]) -> Permission:
    found = [peer for each in peers if (peer := _peer(namespace, each)) is not None]
    return Permission(tuple(dict.fromkeys(found)) if peers else None, _ports(ports) if ports else None)


def _bounded(permissions: Iterable[Permission]) -> tuple[Permission, ...]:
    """Return permissions without the peers that no rule can have.

    Each selection of Pods is a rule for each IP family at least, and costs an element for each of its Pods.
    """
    found, free = [], RULES_MAX
    for each in permissions:
        if free <= 0:
            break
        if each.ports == ():
            continue  # Permits nothing.
        usable: list[PodSelection | Block] = []
        for peer in each.peers or ():
            free -= 2 if isinstance(peer, PodSelection) else 1
            if free < 0:
                break
            usable.append(peer)
        free -= each.peers is None
        found.append(replace(each, peers=None if each.peers is None else tuple(usable)))
    return tuple(found)


def _peer(namespace: str, peer: NetworkPolicyPeer) -> PodSelection | Block | None:
    if peer.ip_block is not None:
        return _block(peer.ip_block)
    pods = EVERYTHING if peer.pod_selector is None else _selector(peer.pod_selector)
    if peer.namespace_selector is not None:
        return PodSelection(None, _selector(peer.namespace_selector), pods)
    # Neither selector: not valid, and it must not permit the whole namespace.
    return PodSelection(namespace, EVERYTHING, pods) if peer.pod_selector is not None else None


def _selector(selector: Mapping[str, Any]) -> Selector:
    try:
        return selector_from_label_selector(selector)
    except (ValueError, AttributeError, TypeError):
        return NOTHING  # Stored by an older version, which checked less.


def _block(block: IPBlock) -> Block | None:
    try:
        whole = _network(block.cidr)
        excluded = [_network(each) for each in block.excluded]
    except ValueError:
        return None
    # Of the other family: it excludes nothing. Merged, because nftables rejects overlaps.
    if whole.version == 4:
        merged = [str(each) for each in ipaddress.collapse_addresses(e for e in excluded if e.version == 4)]
    else:
        merged = [str(each) for each in ipaddress.collapse_addresses(e for e in excluded if e.version == 6)]
    return Block(str(whole), tuple(merged))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return a range. Raises `ValueError`, also for a zone, which is any text and would be part of a rule."""
    if "%" in text:
        raise ValueError("zones are not allowed")
    return ipaddress.ip_network(text, strict=False)


def _ports(ports: Sequence[PolicyPort]) -> tuple[Ports, ...]:
    found: list[Ports] = []
    for protocol in PROTOCOLS:
        chosen = [each for each in ports if each.protocol == protocol]
        if any(each.port is None for each in chosen):
            found.append(Ports(protocol))
            continue
        ranges = _merged((each.port, each.end_port or each.port) for each in chosen if isinstance(each.port, int))
        if ranges:
            found.append(Ports(protocol, ranges))
        names = dict.fromkeys(each.port for each in chosen if isinstance(each.port, str))
        found += [Ports(protocol, name=name) for name in names]
    return tuple(found)


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return ranges without overlaps, which nftables rejects. Ports that do not exist are left out."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((max(first, 0), min(last, PORT_MAX)) for first, last in ranges):
        if first > last:
            continue
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)
