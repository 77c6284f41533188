"""Options of the rules that apply to all Services. Names and meanings are kube-proxy's."""

import ipaddress
from dataclasses import dataclass
from typing import Final

from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import list_of

PRIMARY: Final = "primary"
"""Stands for the addresses of the Node object."""


def _read_cidr(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise ValueError(f"{error}: expected a range such as 10.128.0.0/9") from error


def _read_node_addresses(text: str) -> str:
    return text if text == PRIMARY else _read_cidr(text)


_CIDRS: Final = list_of(ValueKind("CIDR", _read_cidr), metavar="CIDRS")
_NODE_ADDRESSES: Final = list_of(ValueKind("CIDR", _read_node_addresses), metavar="CIDRS")


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Options that apply to all Services."""

    cluster_cidrs: tuple[str, ...] = setting(
        (),
        "Ranges of the addresses of Pods. Traffic to Services from outside of them is masqueraded.",
        name="cluster-cidr",
        kind=_CIDRS,
        default="the Pods' ranges of this Node",
    )
    masquerade_all: bool = setting(False, "Masquerade all traffic to cluster IPs.")
    node_port_addresses: tuple[str, ...] = setting(
        (),
        "Ranges of this node's addresses that accept NodePorts, or 'primary' for those of the Node object.",
        name="nodeport-addresses",
        kind=_NODE_ADDRESSES,
        default="all addresses but loopback",
    )
