"""The kind Backup in version v1."""

from typing import Annotated

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, immutable, list_map, resource

from ledgers.ledger.v1 import LedgerSpec


class BackupSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a backup."""

    ledger_ref: Annotated[str, immutable()]
    """Name of the ledger."""


class BackupStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a backup."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    ledger: LedgerSpec | None = None
    """Ledger at the begin of the backup. The ledger may change later, or disappear."""
    volume: str = ""
    """Claim that is copied."""
    checksum: str = ""
    """SHA-256 of the copy."""
    bytes: int = 0
    """Size of the copy."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="ledgers.example.com",
    version="v1",
    columns=(
        Column("Ledger Ref", ".spec.ledgerRef", "string"),
        Column("Bytes", ".status.bytes", "integer"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Backup(CustomResource):
    """A copy of a ledger, in a volume that is deleted with this object."""

    spec: BackupSpec
    status: BackupStatus | None = None
