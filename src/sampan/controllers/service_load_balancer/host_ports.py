"""Ports of nodes that Pods use (`hostPort`), which no Service may have at the same addresses.

A Service that has a port at an address keeps it; the Pod gets an event then. Otherwise the Pod is first, as on a node
whose load balancers are Pods.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PODS
from sampan.component_base.views import POD_VIEW
from sampan.controllers.service_load_balancer.assignment import AddressPort, ProtocolPort
from sampan.controllers.service_load_balancer.facts import BalancerNode
from sampan.informer.ref import Ref
from sampan.operator.events import EventRecorder
from sampan.resource import Object, ObjectMeta, ObjectType
from sampan.resource.view import view_decoder

HOST_PORT_INDEX: Final = "host-port"
REASON: Final = "HostPortConflict"


class _Port(msgspec.Struct, rename="camel", gc=False):
    host_port: int = 0
    protocol: str = "TCP"
    host_ip: str = msgspec.field(name="hostIP", default="")


class _Container(msgspec.Struct, gc=False):
    ports: list[_Port] = []


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    containers: list[_Container] = []
    init_containers: list[_Container] = []


class _Status(msgspec.Struct, gc=False):
    phase: str = ""


class HostPortPod(msgspec.Struct, gc=False):
    """The fields of a Pod on which its ports of the node depend."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def reference(self) -> Object:
        """Return the object for events."""
        names = {"name": self.metadata.name, "namespace": self.metadata.namespace, "uid": self.metadata.uid}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": names}

    def ports(self) -> list[tuple[ProtocolPort, str]]:
        """Return the ports of the node and their address, which is empty for all. A Pod that has ended has none."""
        if not self.spec.node_name or self.status.phase in ("Succeeded", "Failed"):
            return []
        containers = (*self.spec.init_containers, *self.spec.containers)
        found = [each for container in containers for each in container.ports if each.host_port]
        return [(ProtocolPort(each.protocol, each.host_port), each.host_ip) for each in found]


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


HOST_PORT_POD_VIEW: Final[ObjectType[HostPortPod]] = ObjectType(PODS, view_decoder(HostPortPod), _read_only)


def index_host_ports(context: ControllerContext) -> None:
    """Add the index of Pods with ports of their node, unless the informer has it."""
    indexer = context.informer(POD_VIEW).indexer
    if HOST_PORT_INDEX not in indexer.index_names:
        indexer.add_indexer(HOST_PORT_INDEX, _has_ports)


def host_ports_of(pods: Iterable[HostPortPod], nodes: Iterable[BalancerNode]) -> dict[AddressPort, HostPortPod]:
    """Return the Pod at each address and port of the nodes."""
    addresses = {node.metadata.name: node.addresses for node in nodes}
    return {
        AddressPort(address, port): pod
        for pod in pods
        for port, host_ip in pod.ports()
        for address in addresses.get(pod.spec.node_name, ())
        if host_ip in ("", "0.0.0.0", "::", address)
    }


class Disputes:
    """Records an event for each Pod whose port belongs to a Service, once."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder
        self._reported: set[tuple[str, str]] = set()

    def report(self, pods: Mapping[AddressPort, HostPortPod], users: Mapping[AddressPort, str]) -> None:
        """Record the new conflicts. `users`: what has each address and port instead of the Pod."""
        current: dict[tuple[str, str], HostPortPod] = {}
        for place, user in users.items():
            pod = pods[place]
            text = f"hostPort {place.port.number}/{place.port.protocol} of node {pod.spec.node_name} is in use: {user}"
            current[pod.metadata.uid, text] = pod
        for (uid, text), pod in current.items():
            if (uid, text) not in self._reported:
                self._recorder.warning(pod.reference, REASON, text)
        self._reported = set(current)


def _has_ports(ref: Ref[Any]) -> Iterable[str]:
    """Index function of `HOST_PORT_INDEX`."""
    if b'"hostPort"' in ref.raw:
        yield HOST_PORT_INDEX
