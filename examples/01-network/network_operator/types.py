"""The kind `Network`. `sampan generate crds` writes its CRD."""

from typing import Annotated

import msgspec

from sampan.operator.conditions import Condition
from sampan.resource import Column, CustomResource, Rule, list_map, resource, rule

GROUP = "samplecrd.k8s.io"
FINALIZER = f"{GROUP}/neutron"


class NetworkSpec(msgspec.Struct, rename="camel", kw_only=True):
    """Desired state of the network."""

    cidr: Annotated[str, msgspec.Meta(max_length=64), rule("isCIDR(self)", "must be a CIDR such as 192.168.0.0/16")]
    """Addresses of the network's subnet. A change replaces the subnet."""
    gateway: Annotated[str, msgspec.Meta(max_length=64), rule("isIP(self)", "must be an IP address")]
    """Address of the gateway, within the CIDR."""


class NetworkStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of the network."""

    network_id: str = msgspec.field(name="networkID", default="")
    """Id of the network in Neutron."""
    subnet_id: str = msgspec.field(name="subnetID", default="")
    """Id of the subnet in Neutron."""
    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    conditions: Annotated[list[Condition], list_map("type"), msgspec.Meta(max_length=8)] = msgspec.field(
        default_factory=list
    )


@resource(
    group=GROUP,
    version="v1",
    short_names=("net",),
    api_approved="unapproved, an example of a group under k8s.io",
    columns=(
        Column("CIDR", ".spec.cidr"),
        Column("Gateway", ".spec.gateway"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Network-ID", ".status.networkID", priority=1),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
    rules=(
        Rule(
            "!isCIDR(self.spec.cidr) || !isIP(self.spec.gateway) || cidr(self.spec.cidr).containsIP(self.spec.gateway)",
            message_expression="'gateway ' + self.spec.gateway + ' is not in ' + self.spec.cidr",
            field_path=".spec.gateway",
        ),
    ),
)
class Network(CustomResource):
    """A network with one subnet."""

    spec: NetworkSpec
    status: NetworkStatus | None = None
