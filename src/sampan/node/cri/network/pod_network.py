"""`PodNetwork`: network of a node's Pods, unless another program has configured one.

It writes a CNI configuration for the node's pod CIDRs (bridge, host-local, portmap, bandwidth). It adds routes to the
pod networks of other nodes. Connections that leave the cluster get the node's address as their source.
A configuration that another program has written is used unchanged.

Other programs change the kernel's network, and links go down. So it is compared with the desired one periodically, and
after events of the kernel.

Concurrency: handlers of informers take over changes; `run` compares and repairs.
Source: CNI specification 1.0; containernetworking plugins 1.1 (bridge, host-local, portmap, bandwidth).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sampan.component_base.netlink import RuleChanges, affects_routes, open_route_events, open_rule_events, receive
from sampan.component_base.pod_networks import NETWORK_NODE_VIEW, PodNetworkOf
from sampan.informer.ref import Deletion, Ref
from sampan.node.cri.network.attachments import RESULTS, read_attachments
from sampan.node.cri.network.bridge import BRIDGE, keep_bridge
from sampan.node.cri.network.forwarding import accept_forwarding, remove_acceptance
from sampan.node.cri.network.host_ports import HostPorts
from sampan.node.cri.network.routes import PROTOCOL, routes_of, set_routes
from sampan.node.programs import run

FILE: Final = "10-sampan.conflist"
NETWORK: Final = "sampan"
"""Name of the network in the configuration."""
TABLE: Final = "sampan-pods"
PLUGINS: Final = ("bridge", "host-local", "portmap", "bandwidth")
"""CNI plug-ins of the configuration."""
CHECK_S: Final = 15.0
"""Seconds between checks of the kernel's network."""
_BUSY_TABLES: Final = frozenset({"sampan-proxy", "sampan-netpol"})
"""Names of the own tables for Services and NetworkPolicies, which change often."""
_PAUSE_S: Final = 1.0
"""Shortest time between two checks."""
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
    return {"cniVersion": "1.0.0", "name": NETWORK, "plugins": [bridge, portmap, bandwidth]}


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

    def __init__(
        self,
        node: str,
        *,
        configurations: Path,
        leases: Path,
        report: Callable[[str], None] = lambda problem: None,
        plugin_directories: Callable[[], Awaitable[Sequence[Path]]] | None = None,
        check_s: float = CHECK_S,
        use_bridge: Callable[[str], None] = lambda bridge: None,
        results: Path = RESULTS,
    ) -> None:
        """`configurations`: directory from which the runtime reads. `leases`: directory of assigned addresses.
        `results`: directory to which the runtime writes how it has connected Pods.

        `report` receives what is wrong with the network after each check; empty if nothing is. `check_s`: seconds
        between checks. `plugin_directories` returns where the runtime looks for CNI plug-ins; raises `OSError`. None:
        they are not checked. `use_bridge` receives the bridge of Pods; empty if another program connects them.
        """
        self.cidr = ""
        """Pod CIDR of the node; empty if it has none yet."""
        self._node = node
        self._configurations = configurations
        self._leases = leases
        self._report = report
        self._plugin_directories = plugin_directories
        self._check_s = check_s
        self._use_bridge = use_bridge
        self._own: tuple[str, ...] = ()
        self._networks: dict[str, PodNetworkOf] = {}
        self._changed = asyncio.Event()
        self._results = results
        self._masquerade = OwnTable(TABLE)
        self._host_ports = HostPorts()
        self._logged = ""
        self._refused: dict[str, str] = {}

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
        """Keep the network as it must be until cancelled: after each change of nodes or of the kernel's network, and
        periodically.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_kernel(), name="events of the network")
            while True:
                began = asyncio.get_running_loop().time()
                self._changed.clear()
                await self._check()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._check_s):
                        await self._changed.wait()
                # Own changes and those of others come in groups.
                await asyncio.sleep(max(0.0, began + _PAUSE_S - asyncio.get_running_loop().time()))

    async def _follow_kernel(self) -> None:
        """Request a check after events of the kernel. Without events, checks are only periodic."""
        changes = RuleChanges()

        def routes(data: bytes | None) -> None:
            if affects_routes(data, int(PROTOCOL)):
                self._changed.set()

        def rules(data: bytes | None) -> None:
            if any(not each.tables or each.tables - _BUSY_TABLES for each in changes.take(data)):
                self._changed.set()

        try:
            with open_route_events() as route_events, open_rule_events() as rule_events:
                await asyncio.gather(receive(route_events, routes), receive(rule_events, rules))
        except OSError as error:
            _log.warning("cannot follow the kernel's network, checking it periodically: %s", error)

    async def _check(self) -> None:
        if not self._own:
            return
        try:
            problem = await self._apply()
        except OSError as error:
            problem = str(error)
            # A failure may be that of a moment: another program changes the same rules.
            asyncio.get_running_loop().call_later(_RETRY_S, self._changed.set)
        if problem is None:
            return
        if problem != self._logged:
            self._logged = problem
            if problem:
                _log.warning("the network of pods is not as it must be, retrying: %s", problem)
            else:
                _log.info("the network of pods is as it must be")
        self._report(problem)

    async def _apply(self) -> str | None:
        """Compare the kernel's network with the desired one, and repair it.

        Returns what cannot be repaired; empty if nothing is wrong, None for a network of another program. Raises
        `OSError`.
        """
        foreign = other_configuration(self._configurations)
        self._use_bridge("" if foreign else BRIDGE)
        if foreign:
            if _is_own(self._configurations):
                await remove_network(self._configurations)
                _log.info("using the CNI configuration of another program", extra={"file": foreign})
            return None
        routes = routes_of(self._networks, self._node)
        _forward(self._own)
        await self._masquerade.keep(masquerade_rules(self._own, list(routes)))
        refused = await set_routes(routes)
        if refused != self._refused:
            self._refused = refused
            for reason in refused.values():
                _log.warning("cannot add a route to the pods of another node: %s", reason)
        directories = await self._plugin_directories() if self._plugin_directories is not None else ()
        absent = _absent_plugins(directories)
        # Without a configuration, the runtime is not ready, and neither is the node.
        if absent:
            (self._configurations / FILE).unlink(missing_ok=True)
        else:
            _write(self._configurations, network_configuration(self._own, self._leases))
        await self._keep_pods(directories)
        problems = [absent] if absent else []
        problems += await accept_forwarding((*self._own, *routes))
        # One node out of reach does not make this one unusable.
        if refused and len(refused) == len(routes):
            problems.append(f"no route to the pods of any other node: {next(iter(refused.values()))}")
        return "; ".join(problems)

    async def _keep_pods(self, directories: Sequence[Path]) -> None:
        """Restore what connects running Pods: the bridge, and the rules for host ports. Raises `OSError`."""
        attached = await asyncio.to_thread(read_attachments, self._results, NETWORK)
        running, is_new = await keep_bridge(self._own, attached)
        if is_new:
            _log.warning("the bridge of pods was deleted: restored it", extra={"bridge": BRIDGE, "pods": len(running)})
            self._host_ports.forget()  # The plug-in also changes settings of the bridge.
        await self._host_ports.keep(running, directories)


def _absent_plugins(directories: Sequence[Path]) -> str:
    """Return which CNI plug-ins are not installed; empty if all are, or if the directories are unknown."""
    absent = [name for name in PLUGINS if not any((each / name).exists() for each in directories)]
    if not absent or not directories:
        return ""
    where = " and ".join(map(str, directories))
    return f"no CNI plug-ins {', '.join(absent)} in {where}: install the package containernetworking-plugins"


async def remove_network(configurations: Path) -> None:
    """Remove routes and rules, and the CNI configuration if this program has written it. The bridge stays.

    Raises `OSError`.
    """
    if _is_own(configurations):
        await set_routes({})
        await remove_acceptance()
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
    """Write the configuration, if it differs, in one step, because the runtime watches the directory."""
    content = json.dumps(configuration, indent=2) + "\n"
    with suppress(OSError, UnicodeDecodeError):
        if (directory / FILE).read_text() == content:
            return
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = directory / f".{FILE}"
    draft.write_text(content)
    draft.rename(directory / FILE)


def _forward(cidrs: Sequence[str]) -> None:
    """Let the kernel forward packets between Pods and other machines. Raises `OSError`."""
    _set("/proc/sys/net/ipv4/ip_forward")
    for cidr in cidrs:
        if ":" in cidr:
            _check_ipv6(cidr)
            _set("/proc/sys/net/ipv6/conf/all/forwarding")


def _set(setting: str) -> None:
    path = Path(setting)
    # A write of the same value has side effects for IPv6.
    if path.read_text().strip() != "1":
        path.write_text("1")


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


class OwnTable:
    """Keeps one table of nftables, of the family inet, as this program wrote it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._commands = ""
        self._listed = ""
        """The table as the kernel listed it after it was written: it is not listed as it was written."""

    async def keep(self, commands: str) -> None:
        """Run the commands that replace the table, if they or the kernel's table have changed. Raises `OSError`."""
        if commands == self._commands and await self._list() == self._listed:
            return
        await run("nft", "-f", "-", text=commands)
        self._listed = await self._list()
        self._commands = commands

    async def _list(self) -> str:
        try:
            return await run("nft", "-s", "list", "table", "inet", self._name)
        except OSError:
            return ""  # The table is gone. If nft does not work, the next command reports it.
