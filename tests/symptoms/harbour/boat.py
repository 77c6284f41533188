"""The kind Boat."""

import msgspec

from sampan.resource import Column, CustomResource, resource


class BoatSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a boat."""

    length: int = 1
    """Length in feet."""
    crew: int = 0
    """Number of people on board."""


class BoatStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a boat."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    phase: str = ""
    """State in one word."""
    checked_at: str = ""
    """Time of the last check."""


@resource(
    group="harbour.example.com",
    version="v1",
    columns=(
        Column("Length", ".spec.length", "integer"),
        Column("Phase", ".status.phase"),
    ),
)
class Boat(CustomResource):
    """A boat."""

    spec: BoatSpec
    status: BoatStatus | None = None
