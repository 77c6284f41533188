"""`NodeFacts`: the facts about the proxy's own Node on which its rules depend."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sampan.service_proxy.views import Node

ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Facts about the Node of a proxy. Two equal values give the same rules."""

    name: str
    zone: str = ""
    addresses: tuple[str, ...] = ()
    """Internal and external addresses."""
    pod_cidrs: tuple[str, ...] = ()
    """Ranges of the addresses of the Node's Pods."""


def node_facts(name: str, node: Node | None) -> NodeFacts:
    """Return the facts about a Node, or only its name if the Node does not exist."""
    if node is None:
        return NodeFacts(name)
    cidrs = node.spec.pod_cidrs or _given([node.spec.pod_cidr])
    addresses = _given(each.address for each in node.status.addresses if each.type in ("InternalIP", "ExternalIP"))
    return NodeFacts(name, node.metadata.labels.get(ZONE, ""), addresses, cidrs)


def _given(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
