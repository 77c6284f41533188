"""The kind BackupSchedule in version v1."""

from typing import Annotated

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, immutable, list_map, resource, schema_part


class BackupScheduleSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a backup schedule."""

    ledger_ref: Annotated[str, immutable()]
    """Name of the ledger."""
    cron: str
    """Times of the backups, in UTC: `0 * * * *`, `@daily`, `TZ=Asia/Shanghai 0 3 * * *`."""
    keep: Annotated[int, schema_part(minimum=1)] = 3
    """Number of good backups that stay."""


class BackupScheduleStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a backup schedule."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    last: str = ""
    """Time of the last backup."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="ledgers.example.com",
    version="v1",
    columns=(
        Column("Ledger Ref", ".spec.ledgerRef", "string"),
        Column("Cron", ".spec.cron", "string"),
        Column("Keep", ".spec.keep", "integer"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class BackupSchedule(CustomResource):
    """Times at which a ledger is backed up, and how many backups stay."""

    spec: BackupScheduleSpec
    status: BackupScheduleStatus | None = None
