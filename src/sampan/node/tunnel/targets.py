"""`TunnelTargets`: what API servers may connect to through the tunnel of a node.

- The node's own server, which authenticates its clients itself.
- A Pod of the node with its own network: any port of an address that the runtime has given it.
- A Pod on the network of the machine (hostNetwork, and processes): the TCP ports that its containers declare.

Everything else is refused: other ports of the machine, other machines, link-local addresses. The status of a Pod is not
sufficient, because other clients can write it; the runtime must have given it the address.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Protocol

from sampan.core.addresses.dial import check_address, create_connection
from sampan.http.client.dial import keep_alive
from sampan.node.node_home import NodeHome
from sampan.node.server.hosted import HostedPod
from sampan.node.views.pod import Pod
from sampan.streams.errors import StreamRefused
from sampan.streams.splice import Splice
from sampan.streams.tunnels import KUBELET, split_target

_ANY: Final = frozenset({"", "0.0.0.0", "::"})


Dial = Callable[[Callable[[], Splice], str, int], Awaitable[None]]


async def dial_tcp(make: Callable[[], Splice], host: str, port: int) -> None:
    """Connect a new protocol to an address. Raises `OSError`."""
    splice = await create_connection(make, host, port)
    keep_alive(splice.transport.get_extra_info("socket"))


class Hosts(Protocol):
    """Pods of this process, as `PodAgent` has them."""

    nodes: dict[str, NodeHome]

    def hosted(self) -> Iterable[HostedPod]: ...


class TunnelTargets:
    """Targets of the tunnels of one node. `kubelet` returns the address and the port of the node's server."""

    def __init__(
        self,
        hosts: Hosts,
        kubelet: Callable[[], tuple[str, int]],
        *,
        shares_network: bool = False,
        dial: Dial = dial_tcp,
    ) -> None:
        """`shares_network`: all Pods are on the network of the machine. `dial` connects to an allowed address."""
        self._dial = dial
        self._hosts = hosts
        self._kubelet = kubelet
        self._shares_network = shares_network

    async def connect(self, target: str, make: Callable[[], Splice]) -> None:
        """Connect a new protocol to a target. Raises `StreamRefused`, `OSError`."""
        if target == KUBELET:
            host, port = self._kubelet()
            host = "127.0.0.1" if host in _ANY else host
        else:
            host, port = self._checked(target)
        await self._dial(make, host, port)

    def _checked(self, target: str) -> tuple[str, int]:
        try:
            address, port = split_target(target)
            check_address(address)
        except (ValueError, OSError):
            raise StreamRefused("the target is not allowed") from None
        if not any(self._has(hosted, address, port) for hosted in self._hosts.hosted()):
            raise StreamRefused("the target is no address of a pod of this node, or not a port that the pod declares")
        return address, port

    def _has(self, hosted: HostedPod, address: str, port: int) -> bool:
        """Return True if the Pod has the address and may be reached at the port."""
        pod = hosted.pod
        if pod.has_ended:
            return False
        given = hosted.runtime.addresses(pod.metadata.uid)
        if self._shares_network:
            return address in given and port in _declared(pod)
        if pod.spec.host_network:
            return address in self._own_addresses(self._hosts.nodes, pod) and port in _declared(pod)
        return address in given

    @staticmethod
    def _own_addresses(nodes: Mapping[str, NodeHome], pod: Pod) -> tuple[str, ...]:
        home = nodes.get(pod.spec.node_name)
        return () if home is None else home.host_ips


def _declared(pod: Pod) -> set[int]:
    """Return the TCP ports that the containers of a Pod declare."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return {port.container_port for each in containers for port in each.ports if port.protocol in ("", "TCP")}
