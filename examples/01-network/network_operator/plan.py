"""Compute the next actions from the desired network and the actual networks, without I/O."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from network_operator.types import GROUP, Network


@dataclass(frozen=True, slots=True)
class Desired:
    """Desired network. `identity` marks its parts in Neutron permanently; it contains the object's uid."""

    identity: str
    name: str
    cidr: str
    gateway: str
    known_id: str = ""
    """Id of the network in the object's status. If there are several networks, keep this one."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """Subnet in Neutron."""

    id: str
    cidr: str
    gateway: str


@dataclass(frozen=True, slots=True)
class ActualNetwork:
    """Network in Neutron, with its subnets that have its identity, the oldest first."""

    id: str
    name: str
    subnets: tuple[Subnet, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateNetwork:
    """Create the missing network."""


@dataclass(frozen=True, slots=True)
class RenameNetwork:
    """Rename the network."""

    network_id: str


@dataclass(frozen=True, slots=True)
class DeleteNetwork:
    """Delete a duplicate network, left by a create that was not acknowledged."""

    network_id: str


@dataclass(frozen=True, slots=True)
class CreateSubnet:
    """Create the missing subnet."""

    network_id: str


@dataclass(frozen=True, slots=True)
class UpdateGateway:
    """Change the gateway of the subnet."""

    subnet_id: str


@dataclass(frozen=True, slots=True)
class DeleteSubnet:
    """Delete a subnet with another CIDR, which Neutron cannot change, or a duplicate."""

    subnet_id: str


Action = CreateNetwork | RenameNetwork | DeleteNetwork | CreateSubnet | UpdateGateway | DeleteSubnet


def identity_of(network: Network) -> str:
    """Return the identity of an object's network in Neutron."""
    return f"{GROUP}/network/{network.metadata.uid}"


def desired_of(network: Network) -> Desired:
    """Return the desired network of an object, with addresses in Neutron's form.

    Raises `ValueError` if they are invalid, for example in objects older than the rules of the CRD.
    """
    metadata = network.metadata
    return Desired(
        identity_of(network),
        f"{metadata.namespace}/{metadata.name}",
        str(ipaddress.ip_network(network.spec.cidr, strict=False)),
        str(ipaddress.ip_address(network.spec.gateway)),
        network.status.network_id if network.status else "",
    )


def plan(desired: Desired, actual: Sequence[ActualNetwork]) -> list[Action]:
    """Return the next actions in order; empty if the network is as desired.

    A new network has no id yet, so the next plan creates its subnet.
    """
    if not actual:
        return [CreateNetwork()]
    network, *others = sorted(actual, key=lambda each: each.id != desired.known_id)
    actions: list[Action] = [DeleteNetwork(other.id) for other in others]
    if network.name != desired.name:
        actions.append(RenameNetwork(network.id))
    return [*actions, *_subnet_actions(desired, network)]


def _subnet_actions(desired: Desired, network: ActualNetwork) -> Iterator[Action]:
    fitting = [subnet for subnet in network.subnets if subnet.cidr == desired.cidr]
    kept = fitting[0] if fitting else None
    yield from (DeleteSubnet(subnet.id) for subnet in network.subnets if subnet is not kept)
    if kept is None:
        yield CreateSubnet(network.id)
    elif kept.gateway != desired.gateway:
        yield UpdateGateway(kept.id)
