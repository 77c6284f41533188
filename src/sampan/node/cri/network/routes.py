"""Routes to the Pods of other nodes, through the program `ip`.

A protocol number marks the routes of this program: it changes and removes no other routes. A CIDR for which the
administrator has a route keeps that route.
"""

import ipaddress
import json
from collections.abc import Mapping, Sequence
from typing import Final

from sampan.component_base.pod_networks import PodNetworkOf
from sampan.node.programs import run

PROTOCOL: Final = "77"
"""Number that marks the routes of this program."""


def routes_of(networks: Mapping[str, PodNetworkOf], own: str) -> dict[str, str]:
    """Return the pod CIDRs of all nodes except `own`, each with the node's address of the same family."""
    found = {}
    for name, network in networks.items():
        for cidr in network.cidrs if name != own else ():
            # A colon distinguishes IPv6 from IPv4. A gateway must be of the family of its route.
            gateway = next((each for each in network.addresses if (":" in each) == (":" in cidr)), "")
            if gateway and not ipaddress.ip_address(gateway).is_loopback:
                found[cidr] = gateway
    return found


async def set_routes(desired: Mapping[str, str]) -> dict[str, str]:
    """Add missing routes, and remove this program's routes that are not needed. Raises `OSError`.

    If the kernel refuses a route, the other routes are set. Returns the refused CIDRs with the reason; those to which
    another route exists are not among them.
    """
    refused = {}
    current = await _own_routes()
    for cidr, gateway in current.items():
        if desired.get(cidr) != gateway:
            # With all attributes, so that the kernel deletes exactly this route and not another one to the CIDR.
            await _ip(cidr, "del", cidr, "via", gateway, "proto", PROTOCOL)
    for cidr, gateway in desired.items():
        if current.get(cidr) == gateway:
            continue
        try:
            await _ip(cidr, "add", cidr, "via", gateway, "proto", PROTOCOL)
        except OSError as error:
            if "File exists" not in str(error):
                refused[cidr] = str(error)
    return refused


async def _own_routes() -> dict[str, str]:
    """Return the routes with this program's mark: CIDR to gateway."""
    found: dict[str, str] = {}
    for family in ("-4", "-6"):
        listed: Sequence[Mapping[str, str]] = json.loads(
            await run("ip", family, "-j", "route", "show", "proto", PROTOCOL) or "[]"
        )
        found |= {_network(each["dst"]): each.get("gateway", "") for each in listed}
    return found


def _network(destination: str) -> str:
    """Return a destination as a CIDR: `ip` prints a single address without a prefix length."""
    return str(ipaddress.ip_network(destination))


async def _ip(cidr: str, *words: str) -> None:
    await run("ip", "-6" if ":" in cidr else "-4", "route", *words)
