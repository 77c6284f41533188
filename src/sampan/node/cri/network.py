"""`PodNetwork`: network of a node's Pods, unless another program has configured one.

It writes a CNI configuration for the node's pod CIDRs (bridge, host-local, portmap, bandwidth). It adds routes to the
pod networks of other nodes. It replaces the source address of connections that leave the cluster by the node's.
A configuration that another program has written is used unchanged.

Concurrency: handlers of informers take over changes; `run` applies them, one after the other.
Source: CNI specification 1.0; containernetworking plugins 1.1 (bridge, host-local, portmap, bandwidth).
"""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sampan.informer.ref import Deletion, Ref
from sampan.loops.pod_networks import NETWORK_NODE_VIEW, PodNetworkOf
from sampan.node.cri.programs import run
from sampan.node.cri.routes import routes_of, set_routes

FILE: Final = "10-sampan.conflist"
BRIDGE: Final = "sampan0"
TABLE: Final = "sampan-pods"
_SUFFIXES: Final = (".conf", ".conflist", ".json")
_RETRY_S: Final = 5.0
_log = logging.getLogger("sampan.node")


def network_configuration(cidrs: Sequence[str], leases: Path) -> dict[str, Any]:
    """Return the CNI configuration of a node with these pod CIDRs. `leases`: directory of assigned addresses."""
    ipam = {"type": "host-local", "dataDir": str(leases), "ranges": [[{"subnet": cidr}] for cidr in cidrs]}
    bridge = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": True,
        "isDefaultGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": ipam,
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True}
    bandwidth = {"type": "bandwidth", "capabilities": {"bandwidth": True}}
    return {"cniVersion": "1.0.0", "name": "sampan", "plugins": [bridge, portmap, bandwidth]}


def other_configuration(directory: Path) -> str:
    """Return the name of a CNI configuration that another program has written; empty if there is none."""
    try:
        names = sorted(each.name for each in directory.iterdir() if each.suffix in _SUFFIXES)
    except OSError:
        return ""
    return next((name for name in names if name != FILE), "")


def masquerade_rules(own: Sequence[str], cluster: Sequence[str]) -> str:
    """Return the nftables rules for connections of the node's Pods to addresses outside of the cluster."""
    lines = [f"table inet {TABLE}", f"delete table inet {TABLE}", f"table inet {TABLE} {{"]
    lines += ["  chain postrouting {", "    type nat hook postrouting priority srcnat; policy accept;"]
    for cidr in own:
        family = _family(cidr)
        inside = ", ".join(sorted({each for each in (*own, *cluster) if _family(each) == family}))
        lines.append(
            f'    {family} saddr {cidr} {family} daddr != {{ {inside} }} oifname != "{BRIDGE}" '
            "fib daddr type != { local, multicast, broadcast } masquerade"
        )
    return "\n".join([*lines, "  }", "}", ""])


def _family(cidr: str) -> str:
    return "ip6" if ":" in cidr else "ip"


class PodNetwork:
    """Network of the Pods of one node."""

    needs_leader_election = False

    def __init__(self, node: str, *, configurations: Path, leases: Path) -> None:
        """`configurations`: directory from which the runtime reads. `leases`: directory of assigned addresses."""
        self.cidr = ""
        """Pod CIDR of the node; empty if it has none yet."""
        self._node = node
        self._configurations = configurations
        self._leases = leases
        self._own: tuple[str, ...] = ()
        self._networks: dict[str, PodNetworkOf] = {}
        self._changed = asyncio.Event()
        self._applied: tuple[object, ...] = ()

    def __str__(self) -> str:
        return "pod network"

    def assign(self, cidr: str) -> None:
        """Record the pod CIDR of the Node."""
        self.cidr = cidr

    def learn(self, name: str, network: PodNetworkOf) -> None:
        """Record the network of a node."""
        if name == self._node:
            self._own = network.cidrs or self._own
        self._networks[name] = network
        self._changed.set()

    def forget(self, name: str) -> None:
        """Remove the network of another node."""
        self._networks.pop(name, None)
        self._changed.set()

    def replace_others(self, networks: Mapping[str, PodNetworkOf]) -> None:
        """Replace the networks of all other nodes."""
        own = {name: network for name, network in self._networks.items() if name == self._node}
        self._networks = {**networks, **own}
        self._changed.set()

    async def run(self) -> None:
        """Apply changes until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._apply()
            except OSError as error:
                _log.warning("cannot set up the network of pods, retrying: %s", error)
                await asyncio.sleep(_RETRY_S)
                self._changed.set()

    async def _apply(self) -> None:
        routes = routes_of(self._networks, self._node)
        foreign = other_configuration(self._configurations)
        if not self._own or self._applied == (self._own, routes, foreign):
            return
        if foreign:
            await remove_network(self._configurations)
            _log.info("using the CNI configuration of another program", extra={"file": foreign})
        else:
            _forward(self._own)
            await run("nft", "-f", "-", text=masquerade_rules(self._own, list(routes)))
            await set_routes(routes)
            _write(self._configurations, network_configuration(self._own, self._leases))
        self._applied = (self._own, routes, foreign)


async def remove_network(configurations: Path) -> None:
    """Remove routes and rules, and the CNI configuration if this program has written it. The bridge stays.

    Raises `OSError`.
    """
    if _is_own(configurations):
        await set_routes({})
        await run("nft", "-f", "-", text=f"table inet {TABLE}\ndelete table inet {TABLE}\n")
        (configurations / FILE).unlink(missing_ok=True)


def _is_own(configurations: Path) -> bool:
    return (configurations / FILE).exists()


class FollowNodes:
    """Handler of Nodes: passes the networks of all nodes to the `PodNetwork` of this node."""

    def __init__(self, network: PodNetwork) -> None:
        self._network = network

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Handle a new Node."""
        self._network.learn(obj.name, NETWORK_NODE_VIEW.decode(obj.raw).network)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Handle a changed Node."""
        self.on_add(new, is_in_initial_list=False)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Forget a Node. The network of this node's Pods stays."""
        self._network.forget(obj.name)


def _write(directory: Path, configuration: Mapping[str, Any]) -> None:
    """Write the configuration in one step, because the runtime watches the directory."""
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = directory / f".{FILE}"
    draft.write_text(json.dumps(configuration, indent=2) + "\n")
    draft.rename(directory / FILE)


def _forward(cidrs: Sequence[str]) -> None:
    """Let the kernel forward packets between Pods and other machines. Raises `OSError`."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for cidr in cidrs:
        if ":" in cidr:
            _check_ipv6(cidr)
            Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text("1")


def _check_ipv6(cidr: str, settings: Path = Path("/proc/sys/net/ipv6/conf/all")) -> None:
    """Raise `OSError` if the kernel cannot assign addresses of an IPv6 pod CIDR."""
    try:
        disabled = (settings / "disable_ipv6").read_text().strip() == "1"
    except FileNotFoundError:
        disabled = True
    if disabled:
        raise OSError(
            f"the node has the IPv6 pod CIDR {cidr}, but IPv6 is disabled in the kernel; "
            "set net.ipv6.conf.all.disable_ipv6=0, or use an IPv4 --cluster-cidr"
        )
