"""The kind Ledger in version v1."""

from typing import Annotated

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, Quantity, list_map, resource, schema_part


class LedgerSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a ledger."""

    version: Annotated[int, schema_part(minimum=1)]
    """Version of the application and of its schema. Change it to upgrade or to return."""
    image: str
    """Image of the application, with Python; `{version}` in it becomes the version."""
    command: list[str] | None = None
    """Command of the application. Its environment has SCHEMA_VERSION and LEDGER_FILE."""
    probe: list[str] | None = None
    """Command that succeeds if the application serves with its data."""
    port: Annotated[int, schema_part(minimum=1, maximum=65535)] = 8080
    """Port of the application, for its Service."""
    size: Quantity = "1Gi"
    """Size of the volume, which holds a few copies of the data."""
    verify_seconds: Annotated[int, schema_part(minimum=1)] = 60
    """Time in which a new version must serve. Then the old one returns."""


class LedgerStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a ledger."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    phase: str = ""
    """Start, or the phase of the last upgrade: Backup, Drain, Migrate, Roll, Verify, Done, or RollBack, RolledBack."""
    version: int = 0
    """Version that clients reach. It changes with `file` and `phase`, in one write."""
    file: str = ""
    """Name of its file in the volume."""
    target: int = 0
    """Version of the last upgrade."""
    path: list[str] = msgspec.field(default_factory=list)
    """Names of its migrations."""
    attempt: int = 0
    """Number of upgrades so far. Each has its own files and Jobs."""
    generation: int = 0
    """Generation of the spec that began it."""
    since: str = ""
    """Time at which its new version started."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="upgrades.example.com",
    version="v1",
    columns=(
        Column("Version", ".spec.version", "integer"),
        Column("Serves", ".status.version", "integer"),
        Column("Phase", ".status.phase"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Ledger(CustomResource):
    """An application whose schema and version change together."""

    spec: LedgerSpec
    status: LedgerStatus | None = None
