"""Addresses of simulated Pods, and the reason why they are not dialled.

A simulated Pod has no network. Its address is from 250.0.0.0/8, a part of 240.0.0.0/4, which is reserved: routers do
not forward it, and it is no destination (IANA IPv4 Special-Purpose Address Registry, RFC 1112, RFC 6890). Kubernetes
accepts it in podIPs, podCIDRs and EndpointSlices. Other such ranges are too small for many nodes (192.0.2.0/24), or of
IPv6, which Services of IPv4 do not take (100::/64).

The range is a second line: `core.dial` refuses it. The first one is the Node of a Pod, because a Node's pod CIDR may be
from another range (`registry/simulated_pods.py`).
"""

import ipaddress
from typing import Final

SIMULATED: Final = ipaddress.IPv4Network("250.0.0.0/8")
"""All addresses of simulated Pods and of simulated Nodes without a server."""
PREFIX: Final = "250."
"""Beginning of the text of these addresses."""
POD_CIDRS: Final = ipaddress.IPv4Network("250.0.0.0/9")
"""Range of the pod CIDRs of simulated Nodes, a /24 each."""
HOSTS: Final = ipaddress.IPv4Network("250.128.0.0/9")
"""Addresses of Pods with hostNetwork on simulated Nodes, and of Nodes without a server."""
RUNTIME: Final = "simulated"
REMEDY: Final = "to run its containers, start the node with --node-runtime process or cri"


def is_simulated_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return True for an address that only simulated Pods have."""
    return address in SIMULATED


def not_dialled(what: str) -> str:
    """Return the reason why `what`, for example `the pod "web"`, is not connected to."""
    return f"{what} is simulated and has no network: {REMEDY}"
