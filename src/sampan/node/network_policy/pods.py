"""Pods as the rules know them: as peers of policies, and as Pods of this node that policies isolate. Pure."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sampan.node.network_policy.views import PolicyPod

_ENDED: Final = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class PodFacts:
    """The part of a Pod on which rules depend."""

    namespace: str
    labels: Mapping[str, str]
    named_ports: tuple[tuple[str, str, int], ...] = ()
    """Name, protocol and number."""
    addresses: tuple[str, ...] = ()
    """Addresses in canonical form; empty for a Pod that has none yet."""
    is_local: bool = False
    """True if this node runs the Pod."""


@dataclass(slots=True)
class PodState:
    """A Pod, and the selections that include it."""

    known: PodFacts | None = None
    """State in the API server; None if it has no such Pod."""
    protected: PodFacts | None = None
    """State when this node set up its network; None if it has not, or has removed it again."""
    is_released: bool = False
    """True after this node has removed its network. Then another Pod may get its addresses."""
    peers: set[str] = field(default_factory=set)
    """Names of the selections of Pods that include it."""
    policies: dict[str, set[str]] = field(default_factory=dict)
    """Keys of the policies that isolate it, by direction."""

    @property
    def facts(self) -> PodFacts | None:
        """Newest state, with the addresses that the node has set up; None if neither side has the Pod."""
        known, protected = self.known, self.protected
        if known is not None and self.is_released:
            return replace(known, addresses=())
        if known is None or protected is None:
            return known or protected
        return PodFacts(known.namespace, known.labels, known.named_ports, protected.addresses, True)

    @property
    def is_peer(self) -> bool:
        """False after the API server's Pod is gone, even if its containers still end."""
        return self.known is not None


def facts_of(pod: PolicyPod, node: str, labels: Mapping[str, str]) -> PodFacts | None:
    """Return the facts of a Pod in the API server; None for a Pod that has ended: another Pod may get its addresses.

    A Pod on the network of its node has the node's addresses. Its packets are those of the node, so selections of Pods
    do not include it. Source: docs/concepts/services-networking/network-policies "hostNetwork pods" (1.36).
    """
    if pod.status.phase in _ENDED or pod.spec.host_network:
        return None
    found = [each.ip for each in pod.status.pod_ips] or [pod.status.pod_ip]
    is_local = pod.spec.node_name == node
    return PodFacts(pod.metadata.namespace, labels, pod.named_ports, canonical(found), is_local)


def canonical(addresses: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses as nftables takes them. Other values, such as ranges, names and zones, are left out."""
    found = []
    for each in addresses:
        try:
            address = ipaddress.ip_address(each)
        except ValueError:
            continue
        # A zone is any text, and would be part of a rule.
        if "%" not in each:
            found.append(str(address))
    return tuple(dict.fromkeys(found))
