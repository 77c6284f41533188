"""`PodNetwork`: network of a node's Pods, unless another program has configured one.

It writes a CNI configuration for the node's pod CIDRs (bridge, host-local, portmap, bandwidth). It adds routes to the
pod networks of other nodes. It replaces the source address of connections that leave the cluster by the node's.
A configuration that another program has written is used unchanged.

Concurrency: informers call `on_add` and its siblings; `run` applies changes, one after the other.
Source: CNI specification 1.0; containernetworking plugins 1.1 (bridge, host-local, portmap, bandwidth).
"""

import asyncio
import ipaddress
import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from sampan.informer.ref import Deletion, Ref
from sampan.loops.resources import NODES
from sampan.resource import ObjectMeta, ObjectType

FILE: Final = "10-sampan.conflist"
BRIDGE: Final = "sampan0"
TABLE: Final = "sampan-pods"
PROTOCOL: Final = "77"
"""Number that marks the routes of this program."""
_SUFFIXES: Final = (".conf", ".conflist", ".json")
_RETRY_S: Final = 5.0
_log = logging.getLogger("sampan.node")


class _Spec(msgspec.Struct, rename="camel", gc=False):
    pod_cidrs: list[str] = msgspec.field(name="podCIDRs", default_factory=list)


class _Address(msgspec.Struct, gc=False):
    type: str = ""
    address: str = ""


class _Status(msgspec.Struct, gc=False):
    addresses: list[_Address] = []


class NetworkNode(msgspec.Struct, gc=False):
    """Node, as far as the network needs it."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


NETWORK_NODE_VIEW: ObjectType[NetworkNode] = ObjectType(NODES, msgspec.json.Decoder(NetworkNode).decode, _read_only)


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
        self._nodes: dict[str, NetworkNode] = {}
        self._changed = asyncio.Event()
        self._applied: tuple[object, ...] = ()

    def __str__(self) -> str:
        return "pod network"

    def assign(self, cidr: str) -> None:
        """Take over that the Node has a pod CIDR."""
        self.cidr = cidr

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        """Take over a Node."""
        self._learn(obj)

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        """Take over a changed Node."""
        self._learn(new)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Forget a Node, except this one."""
        if obj.name != self._node:
            self._nodes.pop(obj.name, None)
            self._changed.set()

    def _learn(self, ref: Ref[Any]) -> None:
        self._nodes[ref.name] = NETWORK_NODE_VIEW.decode(ref.raw)
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
        own = self._nodes.get(self._node)
        if own is None or not own.spec.pod_cidrs:
            return
        cidrs = tuple(own.spec.pod_cidrs)
        others = _routes(self._nodes, self._node)
        if self._applied == (cidrs, others):
            return
        foreign = other_configuration(self._configurations)
        if foreign:
            (self._configurations / FILE).unlink(missing_ok=True)
            _log.info("using the CNI configuration of another program", extra={"file": foreign})
        else:
            _forward(cidrs)
            await _run("nft", "-f", "-", text=masquerade_rules(cidrs, [cidr for cidr, _ in others]))
            await _set_routes(others)
            _write(self._configurations, network_configuration(cidrs, self._leases))
        self._applied = (cidrs, others)


def _routes(nodes: Mapping[str, NetworkNode], own: str) -> tuple[tuple[str, str], ...]:
    """Return the pod CIDRs of all other nodes, each with the node's address of the same family."""
    found = []
    for name, node in nodes.items():
        addresses = [each.address for each in node.status.addresses if each.type == "InternalIP"]
        for cidr in node.spec.pod_cidrs if name != own else ():
            gateway = next((each for each in addresses if _family(each) == _family(cidr)), "")
            if gateway and not ipaddress.ip_address(gateway).is_loopback:
                found.append((cidr, gateway))
    return tuple(sorted(found))


def _write(directory: Path, configuration: Mapping[str, Any]) -> None:
    """Write the configuration in one step, because the runtime watches the directory."""
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = directory / f".{FILE}"
    draft.write_text(json.dumps(configuration, indent=2) + "\n")
    draft.rename(directory / FILE)


def _forward(cidrs: Sequence[str]) -> None:
    """Let the kernel forward packets between Pods and other machines. Raises `OSError`."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    if any(":" in cidr for cidr in cidrs):
        Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text("1")


async def _set_routes(wanted: Sequence[tuple[str, str]]) -> None:
    """Add missing routes, and remove those of nodes that are gone."""
    for family in ("-4", "-6"):
        listed = json.loads(await _run("ip", family, "-j", "route", "show", "proto", PROTOCOL) or "[]")
        keep = {cidr for cidr, _ in wanted}
        for each in listed:
            if each["dst"] not in keep:
                await _run("ip", family, "route", "del", each["dst"], "proto", PROTOCOL)
    for cidr, gateway in wanted:
        try:
            await _run("ip", "route", "replace", cidr, "via", gateway, "proto", PROTOCOL)
        except OSError as error:
            _log.warning("cannot add a route to the pods of another node: %s", error)


async def _run(program: str, *arguments: str, text: str = "") -> str:
    """Run a program, and return its output. Raises `OSError`."""
    if shutil.which(program) is None:
        package = {"nft": "nftables", "ip": "iproute2"}[program]
        raise OSError(f"{program} is not installed: install the package {package}")
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.PIPE if text else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, fault = await process.communicate(text.encode() or None)
    if process.returncode:
        raise OSError(f"{program} {' '.join(arguments)}: {fault.decode(errors='replace').strip()}")
    return output.decode()
