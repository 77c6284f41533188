"""The kind Captain in version v1."""

from typing import Annotated, Literal

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, list_map, resource, schema_part


class CaptainSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a captain."""

    selector: Annotated[dict[str, str], schema_part(minProperties=1)]
    """Labels of the Pods of which one leads."""
    lease_seconds: Annotated[int, schema_part(minimum=1)] = 15
    """Time that a leader stays leader while its Pod is not ready, in seconds."""
    publish: Literal["label", "service", "file"] = "label"
    """Way in which clients find the leader: its label, a Service, or a ConfigMap to mount."""
    port: Annotated[int, schema_part(minimum=1, maximum=65535)] = 80
    """Port of the Service."""


class CaptainStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a captain."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    leader: str = ""
    """Pod that leads."""
    epoch: int = 0
    """Fencing token of the leader: each change of the leader increases it."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="captains.example.com",
    version="v1",
    columns=(
        Column("Leader", ".status.leader", "string"),
        Column("Epoch", ".status.epoch", "integer"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Captain(CustomResource):
    """A captain: one of an application's Pods leads."""

    spec: CaptainSpec
    status: CaptainStatus | None = None
