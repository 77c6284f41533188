"""The kind Ledger in version v1alpha1, which had another name for the version. It is still served."""

from typing import Annotated

import msgspec
from sampan.resource import Column, CustomResource, Quantity, resource, schema_part

from upgrades.ledger.v1 import LedgerStatus


class LedgerSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a ledger."""

    schema_version: Annotated[int, schema_part(minimum=1)]
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


@resource(
    group="upgrades.example.com",
    version="v1alpha1",
    storage=False,
    deprecated=True,
    columns=(
        Column("Version", ".spec.schemaVersion", "integer"),
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
