"""`NodeTunnels`: open tunnels of nodes, for the requests of one server.

The agent of a node opens a tunnel to each server. Requests to Pods and to the kubelet of a node with a tunnel go
through it. Without a tunnel they are sent directly, and so they are if the node refuses the target: for example another
port of the node.
"""

import asyncio
import ipaddress
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sampan.core.addresses.dial import check_address
from sampan.streams.errors import StreamRefused
from sampan.streams.limits import DEFAULT_LIMITS, StreamLimits
from sampan.streams.session import ByteStream, StreamSession

P = TypeVar("P", bound=asyncio.BaseProtocol)

PATH: Final = "/node-tunnels/"
"""Prefix of the path at which a node opens a tunnel. Its name follows."""
UPGRADE: Final = "sampan-tunnel"
"""Protocol of the upgrade. The server is the HTTP/2 client of the connection."""
KUBELET: Final = "kubelet"
"""Target that means the node's own server."""
PORT_MAX: Final = 65_535
TUNNELS_PER_NODE_MAX: Final = 4
"""Tunnels of a node to one server. There is more than one while a broken one is not detected yet, or if the server has
several addresses.
"""

_log = logging.getLogger("sampan.tunnels")


class NodeTunnels:
    """Open tunnels, by the name of their node."""

    def __init__(self, limits: StreamLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._open: dict[str, list[StreamSession]] = {}
        self.dials = 0
        """Number of streams since the start."""

    @property
    def count(self) -> int:
        """Number of tunnels."""
        return sum(map(len, list(self._open.values())))

    @property
    def stream_count(self) -> int:
        """Number of streams of all tunnels."""
        return sum(session.stream_count for sessions in list(self._open.values()) for session in list(sessions))

    async def serve(self, node: str, tunnel: ByteStream) -> None:
        """Serve a tunnel of a node until it ends. The oldest one ends if there are too many."""
        session = StreamSession(tunnel, name=f"node {node}", limits=self._limits)
        sessions = self._open.setdefault(node, [])
        for old in sessions[: max(0, len(sessions) + 1 - TUNNELS_PER_NODE_MAX)]:
            old.end("the node has opened newer ones")
        sessions.append(session)
        _log.info("tunnel opened", extra={"node": node})
        try:
            await session.run()
        finally:
            sessions.remove(session)
            if not sessions:
                self._open.pop(node, None)
            _log.info("tunnel ended", extra={"node": node, "reason": session.reason})

    def newest(self, node: str) -> StreamSession | None:
        """Return the newest tunnel of a node that has not ended, or None."""
        return next((each for each in reversed(self._open.get(node, ())) if not each.reason), None)

    def to(self, node: str, *, kubelet: bool = False) -> "NodeWay | None":
        """Return the way to a node; None if its name is not known. `kubelet`: to the node's own server."""
        return NodeWay(self, node, kubelet) if node else None


@dataclass(frozen=True, slots=True)
class NodeWay:
    """Way to the Pods of a node, or to its server."""

    tunnels: NodeTunnels = field(repr=False, compare=False)
    node: str
    kubelet: bool = False

    @property
    def is_open(self) -> bool:
        """True if the node has a tunnel."""
        return self.tunnels.newest(self.node) is not None

    async def connect(
        self, make: Callable[[], P], host: str, port: int, *, tls: ssl.SSLContext | None, server_name: str
    ) -> P | None:
        """Connect a new protocol through the tunnel; None if there is no tunnel or the node refuses the target.

        Raises `OSError`, also for addresses that no object may name: the node checks the target too.
        """
        session = self.tunnels.newest(self.node)
        if session is None:
            return None
        target = KUBELET if self.kubelet else target_of(check_address(host), port)
        self.tunnels.dials += 1
        try:
            return await session.open(make, target, tls=tls, server_name=server_name)
        except StreamRefused:
            return None


def target_of(address: str, port: int) -> str:
    """Return the target of a stream to an address."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def split_target(target: str) -> tuple[str, int]:
    """Return the address and the port of a target. Raises `ValueError`."""
    address, _, port = target.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= PORT_MAX):
        raise ValueError(f"{target!r} is not ADDRESS:PORT")
    return str(ipaddress.ip_address(address.removeprefix("[").removesuffix("]"))), int(port)
