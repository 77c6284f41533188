"""The kind Restore in version v1."""

from typing import Annotated

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, immutable, list_map, resource, schema_part


class RestoreSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a restore."""

    backup_ref: Annotated[str, immutable()]
    """Name of the backup."""
    confirmed: Annotated[bool, schema_part(default=False)] = False
    """True deletes the volume that was replaced."""


class RestoreStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a restore."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    replaces: str = ""
    """Claim that the ledger used at the begin of the restore."""
    replaces_uid: str = ""
    """Its uid; empty if it was lost."""
    switched: bool = False
    """The ledger uses the restored volume."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="ledgers.example.com",
    version="v1",
    columns=(
        Column("Backup Ref", ".spec.backupRef", "string"),
        Column("Confirmed", ".spec.confirmed", "boolean"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Restore(CustomResource):
    """A backup that becomes the volume of its ledger."""

    spec: RestoreSpec
    status: RestoreStatus | None = None
