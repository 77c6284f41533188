"""`base_fragment`: the part of a table that does not depend on Services.

Path of a packet that opens a connection (only its first packet takes these paths):

    prerouting, output   firewall      drop sources that a load balancer does not admit
    prerouting, output   services      choose an endpoint: destination address and port change
    input, forward, output             reject what no endpoint serves
    postrouting          masquerading  replace the source, so that replies come back through this node

Source: pkg/proxy/nftables/proxier.go `setupNFTables` (1.36).
"""

from collections.abc import Iterable
from typing import Final

from sampan.component_base.nftables.fragment import ElementKey, Fragment
from sampan.service_proxy.family import Family
from sampan.service_proxy.node_facts import NodeFacts
from sampan.service_proxy.rules.options import PRIMARY, RuleOptions

SERVICE_IPS: Final = "service-ips"
NODE_PORTS: Final = "service-nodeports"
UNSERVED_IPS: Final = "no-endpoint-services"
UNSERVED_NODE_PORTS: Final = "no-endpoint-nodeports"
FIREWALL_IPS: Final = "firewall-ips"
CLUSTER_IPS: Final = "cluster-ips"
HAIRPINS: Final = "hairpin-connections"
REJECT: Final = "goto reject-chain"
DROP: Final = "drop"
MASQUERADE: Final = "jump mark-for-masquerade"
MARK: Final = 0x4000
"""Bit of the packet mark that requests masquerading. It is the same bit as kube-proxy's, so that rules of other
programs can test it.
"""


def pod_ranges(family: Family, options: RuleOptions, node: NodeFacts) -> tuple[str, ...]:
    """Return the ranges whose addresses count as Pods; empty if they are unknown."""
    return family.ranges(options.cluster_cidrs) or family.ranges(node.pod_cidrs)


def base_fragment(family: Family, options: RuleOptions, node: NodeFacts, service_cidrs: Iterable[str]) -> Fragment:
    """Return chains with hooks, chains that they share, and the empty maps."""
    chains = {
        # Only new connections are checked: the kernel applies NAT to the later packets of a flow without consulting
        # rules.
        "filter-prerouting": ("ct state new jump firewall-check",),
        "filter-output-early": ("ct state new jump firewall-check",),
        "filter-input": ("ct state new jump nodeports-check", "ct state new jump services-check"),
        "filter-forward": ("ct state new jump services-check", "ct state new jump cluster-ips-check"),
        "filter-output": ("ct state new jump services-check", "ct state new jump cluster-ips-check"),
        "nat-prerouting": ("jump services",),
        "nat-output": ("jump services",),
        "nat-postrouting": ("jump masquerading",),
        "firewall-check": (f"{_destination(family)} vmap @{FIREWALL_IPS}",),
        "services-check": (f"{_destination(family)} vmap @{UNSERVED_IPS}",),
        "nodeports-check": _to_node_ports(family, options, node, UNSERVED_NODE_PORTS),
        "cluster-ips-check": _unknown_cluster_ips(family, service_cidrs),
        "services": (
            *_masqueraded(family, options, node),
            f"{_destination(family)} vmap @{SERVICE_IPS}",
            *_to_node_ports(family, options, node, NODE_PORTS),
        ),
        "mark-for-masquerade": (f"meta mark set meta mark or {MARK:#x}",),
        "masquerading": _masquerading(family),
        # A reset ends the client's attempt at once. After an ICMP message Linux may try again for a second.
        "reject-chain": ("meta l4proto tcp reject with tcp reset", "reject"),
    }
    return Fragment(chains, _HOOKS, _sets(family), {})


_HOOKS: Final = {
    # Before the NAT hook (-100), because afterwards the packet no longer has the address of the load balancer.
    "filter-prerouting": "type filter hook prerouting priority -110;",
    "filter-output-early": "type filter hook output priority -110;",
    # After NAT: a packet that still has a Service address was not translated, so no endpoint serves it.
    "filter-input": "type filter hook input priority 0;",
    "filter-forward": "type filter hook forward priority 0;",
    "filter-output": "type filter hook output priority 0;",
    "nat-prerouting": "type nat hook prerouting priority -100;",
    "nat-output": "type nat hook output priority -100;",
    "nat-postrouting": "type nat hook postrouting priority 100;",
}


def _sets(family: Family) -> dict[str, str]:
    address = family.address_type
    by_address = f"map {{ type {address} . inet_proto . inet_service : verdict; }}"
    by_port = "map { type inet_proto . inet_service : verdict; }"
    return {
        SERVICE_IPS: by_address,
        UNSERVED_IPS: by_address,
        FIREWALL_IPS: by_address,
        NODE_PORTS: by_port,
        UNSERVED_NODE_PORTS: by_port,
        CLUSTER_IPS: f"set {{ type {address}; }}",
        HAIRPINS: f"set {{ type {address} . {address} . inet_proto . inet_service; }}",
    }


def _destination(family: Family) -> str:
    return f"{family.name} daddr . meta l4proto . th dport"


def _to_node_ports(family: Family, options: RuleOptions, node: NodeFacts, container: str) -> tuple[str, ...]:
    """Return the rule that looks up NodePorts, for the chosen addresses of the node."""
    chosen = options.node_port_addresses
    # The kernel does not route packets from loopback to another host, so a NodePort cannot work there.
    where = f"{family.name} daddr != {family.loopback}"
    if chosen:
        ranges = family.ranges(node.addresses if chosen == (PRIMARY,) else chosen)
        if not ranges:
            return ()
        where = f"{family.name} daddr {_one_of(ranges)}"
    return (f"{where} fib daddr type local meta l4proto . th dport vmap @{container}",)


def _masqueraded(family: Family, options: RuleOptions, node: NodeFacts) -> tuple[str, ...]:
    """Return the rule that masquerades clients outside the Pods' ranges, so that the reply returns
    through this node.
    """
    to_cluster_ip = f"{family.name} daddr @{CLUSTER_IPS}"
    if options.masquerade_all:
        return (f"{to_cluster_ip} {MASQUERADE}",)
    pods = pod_ranges(family, options, node)
    return (f"{to_cluster_ip} {family.name} saddr != {_one_of(pods)} {MASQUERADE}",) if pods else ()


def _unknown_cluster_ips(family: Family, service_cidrs: Iterable[str]) -> tuple[str, ...]:
    """Return the rules for packets that still have a cluster IP: no Service has this port, or the address is free."""
    free = family.ranges(service_cidrs)
    drop = (f"{family.name} daddr {_one_of(free)} drop",) if free else ()
    return (f"{family.name} daddr @{CLUSTER_IPS} {REJECT}", *drop)


def _masquerading(family: Family) -> tuple[str, ...]:
    source = f"{family.name} saddr . {family.name} daddr . meta l4proto . th dport"
    return (
        # An endpoint that reaches itself through its Service would get packets from its own address.
        f"ct status dnat {source} @{HAIRPINS} masquerade fully-random",
        f"meta mark and {MARK:#x} == 0 return",
        # The bit is cleared, so that the packet is not masqueraded again on another path, such as a tunnel.
        f"meta mark set meta mark and {0xFFFFFFFF ^ MARK:#x}",
        "masquerade fully-random",
    )


def _one_of(values: Iterable[str]) -> str:
    return "{ " + ", ".join(values) + " }"


def element(container: str, *parts: object) -> ElementKey:
    """Return the key of an element: `10.96.0.1 . tcp . 80`."""
    return ElementKey(container, " . ".join(str(part) for part in parts))
