"""What is to be done: from the network that is wanted and the networks that are there. Nothing but decisions."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from network_operator.types import GROUP, Network


@dataclass(frozen=True, slots=True)
class Desired:
    """A wanted network. `identity` marks what belongs to it in Neutron, for ever: it holds the object's uid."""

    identity: str
    name: str
    cidr: str
    gateway: str
    known_id: str = ""
    """The network that the object's status names: of several, it is the one to keep."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet in Neutron."""

    id: str
    cidr: str
    gateway: str


@dataclass(frozen=True, slots=True)
class ActualNetwork:
    """A network in Neutron, with those of its subnets that have its identity; the oldest first."""

    id: str
    name: str
    subnets: tuple[Subnet, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateNetwork:
    """Nothing is there."""


@dataclass(frozen=True, slots=True)
class RenameNetwork:
    """It is there by another name."""

    network_id: str


@dataclass(frozen=True, slots=True)
class DeleteNetwork:
    """A second network of one object: two creates of which one was never acknowledged."""

    network_id: str


@dataclass(frozen=True, slots=True)
class CreateSubnet:
    """The network has no subnet."""

    network_id: str


@dataclass(frozen=True, slots=True)
class UpdateGateway:
    """The subnet has another gateway."""

    subnet_id: str


@dataclass(frozen=True, slots=True)
class DeleteSubnet:
    """The subnet has other addresses (Neutron cannot change them), or is one too many."""

    subnet_id: str


Action = CreateNetwork | RenameNetwork | DeleteNetwork | CreateSubnet | UpdateGateway | DeleteSubnet


def identity_of(network: Network) -> str:
    """What marks an object's network in Neutron."""
    return f"{GROUP}/network/{network.metadata.uid}"


def desired_of(network: Network) -> Desired:
    """What an object asks for. Addresses are brought to the form that Neutron gives them.

    Raises `ValueError` when they are none (objects made before the rules of the CRD, say).
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
    """The next actions, in order; empty when all is as it should be.

    A network that is yet to be created has no id, so its subnet is for the plan that follows.
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
