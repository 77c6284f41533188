"""The kind Publication in version v1."""

from typing import Annotated, Literal

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, immutable, list_map, resource, schema_part


class ServiceRef(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A Service in the namespace of the publication."""

    name: Annotated[str, schema_part(minLength=1)]
    """Name of the Service."""


class PublicationSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a publication."""

    service_ref: ServiceRef
    """Service whose ready endpoints are published."""
    target: Annotated[Literal["dns", "haproxy", "file"], immutable()]
    """Place in which clients look: records of a DNS zone, servers of an HAProxy backend, or lines of a hosts file."""
    name: Annotated[str, schema_part(pattern="^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$"), immutable()]
    """DNS name, or name of the HAProxy backend."""


class PublicationStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a publication."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    addresses: list[str] = msgspec.field(default_factory=list)
    """Addresses that clients find."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="publications.example.com",
    version="v1",
    columns=(
        Column("Target", ".spec.target"),
        Column("Name", ".spec.name"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Addresses", ".status.addresses", priority=1),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Publication(CustomResource):
    """A Service under a name that applications without the Kubernetes API can find."""

    spec: PublicationSpec
    status: PublicationStatus | None = None
