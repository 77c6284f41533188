"""A declared kind for tests of the client."""

from typing import Annotated

import msgspec

from sampan.client import Client, condition_is, wait_for
from sampan.resource import CustomResource, Scale, list_map, resource
from sampan.resource.crd import crd_of


class NetworkSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    """The desired state."""

    cidr: str
    replicas: int = 0


class NetworkCondition(msgspec.Struct, rename="camel", omit_defaults=True):
    """One of the conditions."""

    type: str
    status: str


class NetworkStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """The observed state."""

    phase: str = ""
    replicas: int = 0
    conditions: Annotated[list[NetworkCondition], list_map("type")] = msgspec.field(default_factory=list)


@resource(group="sample.example.com", version="v1", short_names=("net",), scale=Scale())
class Network(CustomResource):
    """A network."""

    spec: NetworkSpec
    status: NetworkStatus | None = None


async def define(client: Client) -> None:
    """Have the server serve networks."""
    definitions = await client.resource_for("customresourcedefinitions")
    crd = await definitions.apply(crd_of(Network), field_manager="tests")
    await wait_for(definitions, crd["metadata"]["name"], condition_is("Established"), timeout_s=60)
