"""Pod networks of nodes: pod CIDRs and addresses, as nodes with containers need them from each other.

A node that has joined may read only its own Node. So a controller publishes the networks of all nodes in a ConfigMap,
with an entry for each node.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from sampan.component_base.resources import NODES
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder

NAMESPACE: Final = "kube-system"
CONFIG_MAP: Final = "sampan-pod-networks"
RUNTIME_LABEL: Final = "sampan.dev/runtime"
CRI: Final = "cri"
"""Value of the label on nodes with containers."""


class PodNetworkOf(msgspec.Struct, frozen=True):
    """Pod network of a node."""

    cidrs: tuple[str, ...] = ()
    """Pod CIDRs."""
    addresses: tuple[str, ...] = ()
    """Addresses of the node."""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    pod_cidrs: list[str] = msgspec.field(name="podCIDRs", default_factory=list)


class _Address(msgspec.Struct, gc=False):
    type: str = ""
    address: str = ""


class _Status(msgspec.Struct, gc=False):
    addresses: list[_Address] = []


class NetworkNode(msgspec.Struct, gc=False):
    """The fields of a Node that describe its pod network."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def network(self) -> PodNetworkOf:
        """Pod network of the node."""
        addresses = tuple(each.address for each in self.status.addresses if each.type == "InternalIP")
        return PodNetworkOf(tuple(self.spec.pod_cidrs), addresses)


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


NETWORK_NODE_VIEW: ObjectType[NetworkNode] = ObjectType(NODES, view_decoder(NetworkNode), _read_only)


def to_data(networks: Mapping[str, PodNetworkOf]) -> dict[str, str]:
    """Return the data of the ConfigMap for the networks of nodes, by their names."""
    return {name: msgspec.json.encode(network).decode() for name, network in sorted(networks.items())}


def from_data(data: Mapping[str, str]) -> dict[str, PodNetworkOf]:
    """Return the networks of nodes from the data of the ConfigMap. Malformed entries are left out."""
    found = {}
    for name, text in data.items():
        try:
            found[name] = msgspec.json.decode(text, type=PodNetworkOf)
        except msgspec.DecodeError:
            continue
    return found
