"""`port_fragment`: chains and elements of one port of a Service.

Source: pkg/proxy/nftables/proxier.go `syncProxyRules` (1.36). Difference: an endpoint has its own chain only with
session affinity. Without it, the rules that choose an endpoint also contain the addresses. Writing such rules is
several times faster.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.component_base.nftables.fragment import ElementKey, Fragment
from sampan.service_proxy.endpoints import ServiceEndpoint
from sampan.service_proxy.family import Family
from sampan.service_proxy.node_facts import NodeFacts
from sampan.service_proxy.rules.base import (
    CLUSTER_IPS,
    DROP,
    FIREWALL_IPS,
    HAIRPINS,
    MASQUERADE,
    NODE_PORTS,
    REJECT,
    SERVICE_IPS,
    UNSERVED_IPS,
    UNSERVED_NODE_PORTS,
    element,
)
from sampan.service_proxy.selection import EndpointSelection
from sampan.service_proxy.service_ports import ProxiedPort

FEW: Final = 10
"""Maximum number of endpoints with one rule for each. For more endpoints, a single rule has a map, which is an
anonymous set of the kernel. The kernel searches all sets by name when it adds one, so thousands of maps would take
seconds to write.
"""


def union(fragments: Iterable[Fragment]) -> Fragment:
    """Return one fragment with the parts of all fragments. No two of them may contain the same chain or set."""
    chains: dict[str, tuple[str, ...]] = {}
    sets: dict[str, str] = {}
    elements: dict[ElementKey, str] = {}
    for fragment in fragments:
        chains.update(fragment.chains)
        sets.update(fragment.sets)
        elements.update(fragment.elements)
    return Fragment(chains, {}, sets, elements)


def port_fragment(
    port: ProxiedPort, selection: EndpointSelection, family: Family, *, pods: Sequence[str], node: NodeFacts
) -> Fragment:
    """Return the rules of a port. `pods` are the ranges of Pods' addresses; empty: unknown."""
    writer = _PortWriter(port, selection, family, pods, node)
    writer.write()
    return Fragment(writer.chains, {}, writer.sets, writer.elements)


@dataclass(slots=True)
class _PortWriter:
    """Collects the rules of one port."""

    port: ProxiedPort
    selection: EndpointSelection
    family: Family
    pods: Sequence[str]
    node: NodeFacts
    chains: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    elements: dict[ElementKey, str] = field(default_factory=dict)

    def write(self) -> None:
        self.elements[element(CLUSTER_IPS, self.port.cluster_ip)] = ""
        for prefix, chosen in (("cluster", self.selection.cluster), ("local", self.selection.local)):
            if chosen:
                self._choice(prefix, chosen)
        for endpoint in {*self.selection.cluster, *self.selection.local}:
            # A Pod that reaches itself through its Service must see another source address, or it would drop the reply.
            if endpoint.local:
                # Source and destination are the same address: this is exactly a packet from an endpoint to itself.
                key = element(HAIRPINS, endpoint.address, endpoint.address, self.port.protocol, endpoint.port)
                self.elements[key] = ""
        self._internal()
        if self.port.is_external:
            self._external()

    # ---- traffic to the cluster IP

    def _internal(self) -> None:
        key = self.port.cluster_ip, self.port.protocol, self.port.port
        chosen = self.selection.local if self.port.internal_local else self.selection.cluster
        if chosen:
            chain = self._chain("local" if self.port.internal_local else "cluster")
            self.elements[element(SERVICE_IPS, *key)] = f"goto {chain}"
        else:
            # A separate map, which a filter chain looks up: a chain of type nat cannot reject packets.
            self.elements[element(UNSERVED_IPS, *key)] = self._refusal

    # ---- traffic to external addresses and NodePorts

    def _external(self) -> None:
        chain = self._chain("external")
        if self.selection.exists:
            self.chains[chain] = self._external_rules()
        served = self.selection.local if self.port.external_local else self.selection.cluster
        for address in dict.fromkeys((*self.port.external_ips, *self.port.load_balancer_ips)):
            key = address, self.port.protocol, self.port.port
            if self.selection.exists:
                self.elements[element(SERVICE_IPS, *key)] = f"goto {chain}"
            if not served:
                self.elements[element(UNSERVED_IPS, *key)] = self._refusal
        if self.port.node_port:
            node_key = self.port.protocol, self.port.node_port
            if self.selection.exists:
                self.elements[element(NODE_PORTS, *node_key)] = f"goto {chain}"
            if not served:
                self.elements[element(UNSERVED_NODE_PORTS, *node_key)] = self._refusal
        self._firewall()

    def _external_rules(self) -> tuple[str, ...]:
        cluster = self._chain("cluster")
        if not self.port.external_local:
            # The endpoint may be on another node, whose reply must come back through this one to be translated.
            return MASQUERADE, f"goto {cluster}"
        header = self.family.name
        rules = []
        if self.selection.cluster:
            # Pods and the node itself are inside the cluster: they may use every endpoint.
            if self.pods:
                rules.append(f"{header} saddr {{ {', '.join(self.pods)} }} goto {cluster}")
            rules += [f"fib saddr type local {MASQUERADE}", f"fib saddr type local goto {cluster}"]
        if self.selection.local:
            rules.append(f"goto {self._chain('local')}")
        return tuple(rules)

    def _firewall(self) -> None:
        """Admit only some sources to the load balancer's addresses."""
        ranges = self.port.source_ranges
        if ranges is None or not self.port.load_balancer_ips:
            return
        chain = self._chain("firewall")
        # The node may use the load balancer if its own address is admitted. Such a packet can have the address of the
        # load balancer as its source, because the network of the load balancer may be on an interface of the node.
        own = self.port.load_balancer_ips if _within(self.family.same(self.node.addresses), ranges) else ()
        admitted = ", ".join(self.family.ranges((*ranges, *own)))
        header = f"{self.family.name} saddr"
        self.chains[chain] = (f"{header} != {{ {admitted} }} drop",) if admitted else ("drop",)
        for address in self.port.load_balancer_ips:
            self.elements[element(FIREWALL_IPS, address, self.port.protocol, self.port.port)] = f"goto {chain}"

    @property
    def _refusal(self) -> str:
        """Reject packets if no node has an endpoint.

        Drop them if only this node has none: the client may retry at another node.
        """
        return DROP if self.selection.exists else REJECT

    # ---- choice of an endpoint

    def _choice(self, prefix: str, endpoints: Sequence[ServiceEndpoint]) -> None:
        chain = self._chain(prefix)
        if self.port.affinity_s:
            self.chains[chain] = self._choice_with_affinity(endpoints)
            return
        transport = f"meta l4proto {self.port.protocol} dnat"
        if len(endpoints) <= FEW:
            targets = [self.family.endpoint(each.address, each.port) for each in endpoints]
            self.chains[chain] = _one_of([f"{transport} to {target}" for target in targets])
            return
        items = ", ".join(f"{number} : {each.address} . {each.port}" for number, each in enumerate(endpoints))
        number = f"numgen random mod {len(endpoints)}"
        self.chains[chain] = (f"{transport} {self.family.name} addr . port to {number} map {{ {items} }}",)

    def _choice_with_affinity(self, endpoints: Sequence[ServiceEndpoint]) -> tuple[str, ...]:
        """Write a chain and a set of clients for each endpoint. Return the rules that choose a chain.

        A new connection of a client in an endpoint's set uses that endpoint again, and restarts the timeout of the
        entry.
        """
        source = f"{self.family.name} saddr"
        again, chains = [], []
        for endpoint in endpoints:
            place = f"{self.port.identity}__{endpoint.address.replace(':', '.')}/{endpoint.port}"
            # The timeout is in the name, because the timeout of a set cannot change.
            clients, chain = f"affinity-{self.port.affinity_s}s-{place}", f"endpoint-{place}"
            timeout = f"flags dynamic, timeout; timeout {self.port.affinity_s}s;"
            self.sets[clients] = f"set {{ type {self.family.address_type}; {timeout} }}"
            target = self.family.endpoint(endpoint.address, endpoint.port)
            dnat = f"meta l4proto {self.port.protocol} dnat to {target}"
            self.chains[chain] = (f"update @{clients} {{ {source} }}", dnat)
            again.append(f"{source} @{clients} goto {chain}")
            # The choice is only for clients without an entry in a set; `again` comes first in the chain.
            chains.append(chain)
        if len(chains) <= FEW:
            return (*again, *_one_of([f"goto {chain}" for chain in chains]))
        verdicts = ", ".join(f"{number} : goto {chain}" for number, chain in enumerate(chains))
        return (*again, f"numgen random mod {len(chains)} vmap {{ {verdicts} }}")

    def _chain(self, prefix: str) -> str:
        return f"{prefix}-{self.port.identity}"


def _one_of(actions: Sequence[str]) -> tuple[str, ...]:
    """Return rules that apply exactly one action to each packet, all with the same probability.

    Of n actions, the first rule applies with the probability 1/n. Otherwise, the following rules choose among the other
    n - 1.
    """
    *others, last = actions
    return (*(f"numgen random mod {len(actions) - at} 0 {action}" for at, action in enumerate(others)), last)


def _within(addresses: Iterable[str], ranges: Iterable[str]) -> bool:
    networks = [ipaddress.ip_network(each) for each in ranges]
    return any(ipaddress.ip_address(address) in network for address in addresses for network in networks)
