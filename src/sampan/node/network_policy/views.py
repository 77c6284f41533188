"""Views: the parts of NetworkPolicies and Pods on which rules depend."""

from typing import Any

import msgspec

from sampan.component_base.resources import NETWORK_POLICIES, PODS
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder


class PolicyPort(msgspec.Struct, rename="camel", frozen=True):
    """Port of a rule: a number, a range, a name, or all ports of a protocol."""

    protocol: str = "TCP"
    port: int | str | None = None
    end_port: int | None = None


class IPBlock(msgspec.Struct, rename="camel", frozen=True):
    """Range of addresses without some parts."""

    cidr: str = ""
    excluded: list[str] = msgspec.field(name="except", default_factory=list)


class NetworkPolicyPeer(msgspec.Struct, rename="camel", frozen=True):
    """Other side of the permitted connections."""

    pod_selector: dict[str, Any] | None = None
    namespace_selector: dict[str, Any] | None = None
    ip_block: IPBlock | None = None


class NetworkPolicyRule(msgspec.Struct, rename="camel", frozen=True):
    """Permitted connections of one direction. An empty list permits all peers, or all ports."""

    ports: list[PolicyPort] = []
    sources: list[NetworkPolicyPeer] = msgspec.field(name="from", default_factory=list)
    destinations: list[NetworkPolicyPeer] = msgspec.field(name="to", default_factory=list)


class PolicySpec(msgspec.Struct, rename="camel", frozen=True):
    """Spec of a NetworkPolicy."""

    pod_selector: dict[str, Any] = {}
    policy_types: list[str] = []
    ingress: list[NetworkPolicyRule] = []
    egress: list[NetworkPolicyRule] = []

    @property
    def directions(self) -> tuple[str, ...]:
        """Directions that the policy restricts.

        Source: pkg/apis/networking/v1/defaults.go (1.36): without policyTypes, egress only with egress rules.
        """
        return tuple(self.policy_types) or (("Ingress", "Egress") if self.egress else ("Ingress",))


class NetworkPolicy(msgspec.Struct, rename="camel", frozen=True):
    """Fields of a NetworkPolicy that the firewall of a node reads."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PolicySpec = msgspec.field(default_factory=PolicySpec)


class _Port(msgspec.Struct, rename="camel", frozen=True, gc=False):
    container_port: int = 0
    name: str = ""
    protocol: str = "TCP"


class _Container(msgspec.Struct, rename="camel", frozen=True):
    ports: list[_Port] = []
    restart_policy: str = ""


class _Spec(msgspec.Struct, rename="camel", frozen=True):
    node_name: str = ""
    host_network: bool = False
    containers: list[_Container] = []
    init_containers: list[_Container] = []


class _Address(msgspec.Struct, frozen=True, gc=False):
    ip: str = ""


class _Status(msgspec.Struct, rename="camel", frozen=True):
    phase: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")
    pod_ips: list[_Address] = msgspec.field(name="podIPs", default_factory=list)


class PolicyPod(msgspec.Struct, rename="camel", frozen=True):
    """The part of a Pod on which rules depend."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def named_ports(self) -> tuple[tuple[str, str, int], ...]:
        """Name, protocol and number of the ports with a name, also of sidecars."""
        sidecars = [each for each in self.spec.init_containers if each.restart_policy == "Always"]
        return tuple(
            (port.name, port.protocol, port.container_port)
            for container in (*self.spec.containers, *sidecars)
            for port in container.ports
            if port.name
        )


class _SmallMeta(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}


class _SmallContainer(msgspec.Struct, rename="camel", omit_defaults=True):
    ports: list[_Port] = []
    restart_policy: str = ""


class _SmallSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    node_name: str = ""
    host_network: bool = False
    containers: list[_SmallContainer] = []
    init_containers: list[_SmallContainer] = []


class _SmallPod(msgspec.Struct, rename="camel", omit_defaults=True):
    metadata: _SmallMeta = msgspec.field(default_factory=_SmallMeta)
    spec: _SmallSpec = msgspec.field(default_factory=_SmallSpec)
    status: _Status = msgspec.field(default_factory=_Status)


_small = view_decoder(_SmallPod)


def without_the_rest(body: bytes) -> bytes:
    """Return the JSON of a Pod with only the fields of `PolicyPod`: some 300 bytes of several thousand.

    A transform of an informer. Raises `ValueError`.
    """
    return msgspec.json.encode(_small(body))


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


POLICY_VIEW: ObjectType[NetworkPolicy] = ObjectType(NETWORK_POLICIES, view_decoder(NetworkPolicy), _read_only)
POLICY_POD_VIEW: ObjectType[PolicyPod] = ObjectType(PODS, view_decoder(PolicyPod), _read_only)
