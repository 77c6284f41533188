"""Rules of nftables for NetworkPolicies. Pure.

Path of a forwarded or bridged packet:

    egress base chain     source address    -> chain of the policies that isolate the source for egress
    ingress base chain    its destination   -> chain of the policies that isolate the destination for ingress

Both look the address up in a map, so a new Pod changes elements and no rules. A packet must pass both chains. They come
after destination NAT and before source NAT, so the addresses are those of Pods.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sampan.component_base.nftables.fragment import ElementKey, Fragment
from sampan.node.network_policy.policy import (
    EGRESS,
    INGRESS,
    PORT_MAX,
    RULES_MAX,
    Block,
    Permission,
    PodSelection,
    Policy,
    Ports,
)

TABLE: Final = "inet sampan-netpol"
FAMILIES: Final = ("ip", "ip6")
SELF: Final = "self"
"""Set of each Pod's address with itself: a Pod always reaches itself."""
REFUSE: Final = "counter drop"
_TYPES: Final = {"ip": "ipv4_addr", "ip6": "ipv6_addr"}
_SIDES: Final = {INGRESS: "saddr", EGRESS: "daddr"}
"""Field of a packet with the address of the peer."""
_OWN_SIDES: Final = {INGRESS: "daddr", EGRESS: "saddr"}
"""Field of a packet with the address of the isolated Pod."""
_INTERFACES: Final = {INGRESS: "oifname", EGRESS: "iifname"}
_PRIORITIES: Final = {EGRESS: 10, INGRESS: 11}
"""After the service proxy and most firewalls. A verdict `accept` ends only the chains of one priority."""
_NEIGHBOURS: Final = (
    "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, "
    "mld-listener-query, mld-listener-report, mld-listener-done, mld2-listener-report } accept"
)


def family_of(address: str) -> str:
    """Return the keyword of the header that has the address."""
    return "ip6" if ":" in address else "ip"


def isolation(direction: str, family: str) -> str:
    """Return the name of the map from the node's Pods to their chains."""
    return f"{direction}-{family}"


def base_fragment(bridge: str) -> Fragment:
    """Return base chains and maps.

    `bridge`: bridge to which only known Pods are connected; empty if there is none. Packets from and to other
    addresses on it are refused: addresses that a Pod has invented, and those that reach several Pods or belong to
    links, such as multicast and `fe80::/10`. No policy could decide about them.
    """
    chains, hooks, sets = {}, {}, {}
    for direction, priority in _PRIORITIES.items():
        name, side = f"{direction}-base", _OWN_SIDES[direction]
        hooks[name] = f"type filter hook forward priority {priority}; policy accept;"
        unknown = (f'{_INTERFACES[direction]} "{bridge}" {REFUSE}',) if bridge else ()
        chains[name] = (
            # Only the side that opened a connection is checked: replies always pass. Its later packets are checked
            # too, so that a change of a policy reaches existing connections.
            "ct direction reply ct state established accept",
            "meta l4proto { icmp, ipv6-icmp } ct state related accept",
            _NEIGHBOURS,
            *(f"{family} saddr . {family} daddr @{SELF}-{family} accept" for family in FAMILIES),
            *(f"{family} {side} vmap @{isolation(direction, family)}" for family in FAMILIES),
            *unknown,
        )
        for family in FAMILIES:
            sets[isolation(direction, family)] = f"map {{ type {_TYPES[family]} : verdict; }}"
    for family in FAMILIES:
        sets[f"{SELF}-{family}"] = f"set {{ type {_TYPES[family]} . {_TYPES[family]}; }}"
    return Fragment(chains, hooks, sets)


def pods_fragment(name: str) -> Fragment:
    """Return the empty sets for the addresses of selected Pods."""
    return Fragment(sets={f"{name}-{family}": f"set {{ type {_TYPES[family]}; }}" for family in FAMILIES})


def port_fragment(name: str) -> Fragment:
    """Return the empty sets for the ports of one name: address, protocol and number."""
    return Fragment(
        sets={
            f"{name}-{family}": f"set {{ type {_TYPES[family]} . inet_proto . inet_service; }}" for family in FAMILIES
        }
    )


def element(name: str, address: str, *more: object) -> ElementKey:
    """Return the key of an element in the set of the address's family."""
    key = " . ".join((address, *map(str, more))) if more else address
    # Thousands of elements share the name of their set.
    return ElementKey(sys.intern(f"{name}-{family_of(address)}"), key)


def group_fragment(direction: str, group: str, policies: Sequence[tuple[str, str]]) -> Fragment:
    """Return the chain of Pods to which the same policies apply: what none of them permits is refused.

    `policies`: name of the policy's chains, and its key.
    """
    jumps = (f'jump {name}-{direction} comment "{key[:120]}"' for name, key in policies)
    return Fragment({f"{group}-{direction}": (*jumps, REFUSE)})


def policy_fragment(
    name: str, policy: Policy, set_of: Callable[[PodSelection], str], port_of: Callable[[str, str], str]
) -> Fragment:
    """Return the chains of a policy. `set_of` and `port_of` return the names of sets."""
    chains: dict[str, tuple[str, ...]] = {}
    for direction, permissions in policy.permissions.items():
        rules: list[str] = []
        for number, permission in enumerate(permissions):
            peers = list(_peers(direction, permission, set_of))
            ports = list(_ports(permission, port_of))
            if len(peers) > 1 and len(ports) > 1:
                # A chain for the ports, because the product of both can be huge.
                below = f"{name}-{direction}-{number}"
                chains[below] = tuple(f"{port} accept" for _, port in ports[:RULES_MAX])
                rules += [f"{peer} jump {below}" for _, peer in peers]
            else:
                rules += [
                    f"{peer} {port} accept".strip()
                    for family, peer in peers
                    for other, port in ports
                    if not (family and other) or family == other
                ]
        chains[f"{name}-{direction}"] = tuple(rules[:RULES_MAX])
    return Fragment(chains)


def _peers(direction: str, permission: Permission, set_of: Callable[[PodSelection], str]) -> Iterator[tuple[str, str]]:
    """Yield a condition for each peer, with its family; empty for both."""
    side = _SIDES[direction]
    if permission.peers is None:
        yield "", ""
        return
    for peer in permission.peers:
        if isinstance(peer, Block):
            yield _block(peer, side)
            continue
        name = set_of(peer)
        for family in FAMILIES:
            yield family, f"{family} {side} @{name}-{family}"


def _block(block: Block, side: str) -> tuple[str, str]:
    family = family_of(block.cidr)
    excluded = f" {family} {side} != {{ {', '.join(block.excluded)} }}" if block.excluded else ""
    return family, f"{family} {side} {block.cidr}{excluded}"


def _ports(permission: Permission, port_of: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    """Yield a condition for each protocol or name, with its family; empty for both."""
    if permission.ports is None:
        yield "", ""
        return
    for ports in permission.ports:
        if ports.name:
            name = port_of(ports.name, ports.protocol)
            for family in FAMILIES:
                yield family, f"{family} daddr . meta l4proto . th dport @{name}-{family}"
        else:
            yield "", _numbers(ports)


def _numbers(ports: Ports) -> str:
    protocol = ports.protocol.lower()
    if not ports.ranges or (ports.ranges[0][0] <= 1 and ports.ranges[0][1] == PORT_MAX):
        return f"meta l4proto {protocol}"
    ranges = (str(first) if first == last else f"{first}-{last}" for first, last in ports.ranges)
    return f"{protocol} dport {{ {', '.join(ranges)} }}"
