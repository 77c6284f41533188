"""The kind Shop in version v1."""

from typing import Annotated

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, list_map, resource, schema_part


class ShopSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a shop."""

    image: Annotated[str, schema_part(minLength=1)]
    """Image of the application."""
    command: list[str] = msgspec.field(default_factory=list)
    """Command of the container; by default that of the image."""
    replicas: Annotated[int, schema_part(minimum=0)] = 1
    """Number of Pods."""
    port: Annotated[int, schema_part(minimum=1, maximum=65535)] = 8080
    """Port on which the application serves HTTP. It is also the environment variable PORT."""
    host: str = ""
    """DNS name for an Ingress; empty for none."""
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    """Environment variables of the application. A change restarts it."""


class ShopStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a shop."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="shops.example.com",
    version="v1",
    columns=(
        Column("Image", ".spec.image"),
        Column("Replicas", ".spec.replicas", "integer"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Shop(CustomResource):
    """An application that answers HTTP, with its settings and its address."""

    spec: ShopSpec
    status: ShopStatus | None = None
