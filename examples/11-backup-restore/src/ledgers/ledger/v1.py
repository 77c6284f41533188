"""The kind Ledger in version v1."""

from typing import Annotated, Literal

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, Quantity, immutable, list_map, resource


class LedgerSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a ledger."""

    engine: Annotated[Literal["sqlite", "postgresql"], immutable()] = "sqlite"
    """Database of the application. Its files are in the volume, at /data."""
    image: str
    """Image of the application, with Python or PostgreSQL: backups and restores run in it too."""
    command: list[str] | None = None
    """Command of the application; by default, that of the image, or a PostgreSQL server."""
    size: Quantity = "1Gi"
    """Size of each volume."""
    user: int | None = None
    """Number of the user that owns the files; by default, that of the image."""


class LedgerStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a ledger."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    volume: str = ""
    """Claim that the application uses. A restore replaces it in one write."""
    restored: str = ""
    """Creation time of the restore that replaced it last."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="ledgers.example.com",
    version="v1",
    columns=(
        Column("Engine", ".spec.engine", "string"),
        Column("Image", ".spec.image", "string"),
        Column("Volume", ".status.volume"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Ledger(CustomResource):
    """An application with its data in a volume."""

    spec: LedgerSpec
    status: LedgerStatus | None = None
