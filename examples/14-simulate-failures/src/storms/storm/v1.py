"""The kind Storm in version v1."""

from typing import Annotated, Literal

import msgspec
from sampan.operator import Condition
from sampan.resource import Column, CustomResource, list_map, resource, rule, schema_part

Labels = Annotated[dict[str, str], schema_part(minProperties=1)]
Phase = Literal["Planned", "Waiting", "Running", "Passed", "Failed", "Aborted", "Refused"]


class Hypothesis(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """State that stays true during a storm."""

    selector: Labels
    """Labels of the Pods that serve."""
    min_ready: Annotated[int, schema_part(minimum=1)]
    """Number of these Pods that are ready at any time."""
    recovery_seconds: Annotated[int, schema_part(minimum=0)] = 60
    """Time after the storm in which it may become true again."""


class StormSpec(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Desired state of a storm."""

    selector: Labels
    """Labels of the Pods that may be victims."""
    actions: Annotated[list[Literal["kill", "isolate"]], schema_part(minItems=1)]
    """Actions in turn: kill evicts a Pod without a grace period, isolate cuts its network."""
    max: Annotated[int, schema_part(minimum=1)] = 1
    """Most victims of the storm."""
    seed: int = 0
    """Start of the choice: equal seeds and equal Pods give equal victims."""
    window_seconds: Annotated[int, schema_part(minimum=1)] = 60
    """Time of the storm; its actions are spread over it."""
    ttl_seconds: Annotated[int, schema_part(minimum=1)] = 30
    """Time after which the cluster ends an isolation, also without this operator."""
    hypothesis: Hypothesis
    """State that is checked before, during and after the storm."""
    abort_on: list[Literal["HypothesisBroken", "EvictionRefused"]] = msgspec.field(
        default_factory=lambda: ["HypothesisBroken"]
    )
    """Events that end the storm at once."""
    dry_run: bool = False
    """Only list the victims."""


class Victim(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A Pod and what happened to it."""

    pod: str
    uid: str
    action: str
    at: str
    """Time of the action."""
    state: Literal["Planned", "Begun", "Hit", "Spared"] = "Planned"
    note: str = ""


class StormStatus(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Observed state of a storm: its report."""

    observed_generation: int = 0
    """Generation of the spec that this status describes."""
    phase: Phase | None = None
    ends: str = ""
    """Time at which the window ends."""
    victims: list[Victim] = msgspec.field(default_factory=list)
    lowest: int | None = None
    """Fewest ready Pods of the hypothesis."""
    message: str = ""
    """Result, with what was counted."""
    conditions: Annotated[list[Condition], list_map("type")] = msgspec.field(default_factory=list)


@resource(
    group="storms.example.com",
    version="v1",
    columns=(
        Column("Phase", ".status.phase", "string"),
        Column("Message", ".status.message", "string"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
class Storm(CustomResource):
    """A storm: failures of Pods within a budget, to see whether an application survives them."""

    spec: Annotated[StormSpec, rule("self == oldSelf", "a storm cannot be changed: create another one")]
    status: StormStatus | None = None
