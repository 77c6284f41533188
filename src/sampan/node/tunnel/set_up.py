"""`add_tunnels`: adds the tunnels of a node to a manager."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sampan.client import Config
from sampan.component_base.context import ControllerContext
from sampan.node.server.server import NodeServer
from sampan.node.tunnel.agent import TunnelAgent
from sampan.node.tunnel.targets import Hosts, TunnelTargets


@dataclass(frozen=True, slots=True)
class TunnelSettings:
    """Settings of the tunnels of a node."""

    config: Config | None = None
    """Client configuration for the API servers; None for no tunnels."""
    shares_network: bool = False
    """True if the Pods are on the network of the machine."""


NO_TUNNELS: Final = TunnelSettings()


def add_tunnels(
    context: ControllerContext,
    settings: TunnelSettings,
    node: str,
    server: tuple[NodeServer, str],
    hosts: Hosts,
    registered: Callable[[], Awaitable[None]],
) -> None:
    """Add the tunnels, if the settings have any. `server`: the server of the node, and its address."""
    if settings.config is None:
        return

    def kubelet() -> tuple[str, int]:
        """Return the address and the port of the node's server. It listens before the node is registered."""
        return server[1], server[0].port

    targets = TunnelTargets(hosts, kubelet, shares_network=settings.shares_network)
    client = context.manager.client.direct
    context.manager.add(TunnelAgent(settings.config, client, node, targets, registered=registered))
