"""The kind Migration in version v1."""

from typing import Annotated

import msgspec
from sampan.resource import Column, CustomResource, resource, rule, schema_part


class MigrationSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a migration."""

    ledger_ref: str
    """Name of the ledger."""
    from_version: Annotated[int, schema_part(minimum=1)]
    """Version before."""
    to_version: Annotated[int, schema_part(minimum=1)]
    """Version after. It may be lower, or skip some."""
    sql: str
    """Statements that change schema and data, without transactions."""


@resource(
    group="upgrades.example.com",
    version="v1",
    columns=(
        Column("Ledger Ref", ".spec.ledgerRef", "string"),
        Column("From Version", ".spec.fromVersion", "integer"),
        Column("To Version", ".spec.toVersion", "integer"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Migration(CustomResource):
    """A step from one version of a schema to another. Its name and content are final."""

    spec: Annotated[MigrationSpec, rule("self == oldSelf", "a migration cannot be changed: create another one")]
