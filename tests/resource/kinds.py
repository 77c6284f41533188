"""Declared kinds for tests."""

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from sampan.resource import (
    Column,
    CustomResource,
    IntOrString,
    ObjectMeta,
    Rule,
    Scale,
    doc,
    immutable,
    list_map,
    resource,
    rule,
)


class Mode(enum.StrEnum):
    """The speed of a boat."""

    FAST = "Fast"
    SLOW = "Slow"


class Condition(msgspec.Struct, rename="camel", omit_defaults=True):
    """One condition."""

    type: str
    status: Literal["True", "False", "Unknown"]
    observed_generation: int = 0


class BoatSpec(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Desired state of a boat."""

    length: Annotated[int, msgspec.Meta(ge=1, le=400)]
    """Length in feet."""
    name_plate: Annotated[str, msgspec.Meta(min_length=1, max_length=20, pattern="^[A-Z]"), immutable()] = "Sampan"
    mode: Mode = Mode.SLOW
    replicas: int = 1
    ports: Annotated[list[int], msgspec.Meta(max_length=5)] = msgspec.field(default_factory=list)
    speed: Annotated[IntOrString | None, doc("Knots, or a share of what is possible.")] = None
    cargo: dict[str, int] = msgspec.field(default_factory=dict)
    extra: Any = None
    owner_id: str = msgspec.field(name="ownerID", default="")


class BoatStatus(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Observed state of a boat."""

    replicas: int = 0
    conditions: Annotated[list[Condition], list_map("type"), msgspec.Meta(max_length=10)] = msgspec.field(
        default_factory=list
    )


@resource(
    group="harbour.example.com",
    version="v1",
    short_names=("bo",),
    categories=("all",),
    columns=(Column("Length", ".spec.length", "integer"), Column("Mode", ".spec.mode", priority=1)),
    rules=(Rule("self.spec.length < 300 || self.spec.mode == 'Slow'", "long boats are slow"),),
    selectable_fields=(".spec.mode",),
    scale=Scale(),
)
class Boat(CustomResource):
    """A boat."""

    spec: BoatSpec
    status: BoatStatus | None = None


@resource(group="harbour.example.com", version="v1beta1", kind="Boat", storage=False, deprecated=True)
class OldBoat(CustomResource):
    """A boat in the earlier version."""

    feet: int = 0


@dataclass
class BuoySpec:
    """Desired state of a buoy."""

    colour: Annotated[str, rule("self in ['red', 'green']", "red or green")]
    note: str | None = None


@resource(group="harbour.example.com", version="v1", namespaced=False)
@dataclass
class Buoy:
    """A buoy."""

    spec: BuoySpec
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
