"""`keep_bridge`: restores the bridge of Pods: the bridge itself, its addresses, and the links of running Pods.

The CNI plug-in makes the bridge for the first Pod, and repairs it only when another Pod starts. If another program
deletes the bridge, the links of running Pods stay, without a bridge.
Source: containernetworking plugins 1.1, bridge `ensureAddr`, `calcGateways`, `setupVeth`.
"""

import ipaddress
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sampan.node.cri.network.attachments import Attachment
from sampan.node.programs import run

BRIDGE: Final = "sampan0"


async def keep_bridge(cidrs: Sequence[str], attached: Sequence[Attachment]) -> tuple[list[Attachment], bool]:
    """Restore the bridge if it exists or if a running Pod needs it, and connect the links of running Pods to it.

    Returns the attachments of running Pods, and True if the bridge is a new one. Raises `OSError`.
    """
    veths = await _links("link", "show", "type", "veth") if attached else {}
    running = [each for each in attached if _link(each, veths)]
    bridge = (await _links("address", "show", "type", "bridge")).get(BRIDGE)
    is_new = bridge is None and bool(running)
    if is_new:
        # Pods have the address of the old bridge in their neighbour tables.
        mac = next((mac for each in reversed(running) for name, mac in each.links if name == BRIDGE and mac), "")
        await run("ip", "link", "add", "name", BRIDGE, *(["address", mac] if mac else []), "type", "bridge")
    if bridge is not None or is_new:
        await _keep_addresses(cidrs, bridge or {})
        for each in running:
            await _keep_link(veths[_link(each, veths)])
    return running, is_new


async def _keep_addresses(cidrs: Sequence[str], bridge: Mapping[str, Any]) -> None:
    """Set the bridge up, and add the addresses that are the gateways of Pods."""
    if "UP" not in (bridge.get("flags") or ()):
        await run("ip", "link", "set", BRIDGE, "up")
    present = {f"{each['local']}/{each['prefixlen']}" for each in (bridge.get("addr_info") or ()) if "local" in each}
    for cidr in cidrs:
        network = ipaddress.ip_network(cidr)
        gateway = f"{network[1]}/{network.prefixlen}"
        if gateway not in present:
            family = ["nodad"] if network.version == 6 else ["brd", "+"]
            await run("ip", "address", "replace", gateway, "dev", BRIDGE, *family)


async def _keep_link(link: Mapping[str, Any]) -> None:
    """Connect the link of a Pod to the bridge. A Pod that reaches itself through a Service needs hairpin mode."""
    slave = (link.get("linkinfo") or {}).get("info_slave_data") or {}
    if link.get("master") != BRIDGE or "UP" not in (link.get("flags") or ()):
        await run("ip", "link", "set", link["ifname"], "master", BRIDGE, "up")
        slave = {}
    if slave.get("hairpin") is not True:
        await run("ip", "link", "set", link["ifname"], "type", "bridge_slave", "hairpin", "on")


def _link(attachment: Attachment, veths: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the name of a Pod's link on the node; empty if it is gone. Another link may have its name, not its MAC."""
    names = (name for name, mac in attachment.links if name in veths and veths[name].get("address") == mac)
    return next(names, "")


async def _links(*words: str) -> dict[str, dict[str, Any]]:
    """Return links by name, with all details."""
    listed: list[dict[str, Any]] = json.loads(await run("ip", "-d", "-j", *words) or "[]")
    return {each["ifname"]: each for each in listed if "ifname" in each}
