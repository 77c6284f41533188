"""A class whose default breaks the constraints of its field is refused."""

import dataclasses
from typing import Annotated, Any, Literal

import msgspec
import pytest

from sampan.resource import CustomResource, ObjectMeta, resource

Port = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]
Knots = Annotated[int, msgspec.Meta(ge=1, le=40)]


def declared(field: Any, default: Any, *, omit_defaults: bool = False, within: Any = None) -> type[Any]:
    """Declare a kind whose spec has one field and a required one before it."""
    spec: Any = msgspec.defstruct(
        "BoatSpec",
        [("length", int), ("home_port", field, default)],
        rename="camel",
        kw_only=True,
        omit_defaults=omit_defaults,
    )
    shape: Any = within(spec) if within else spec
    boat = msgspec.defstruct("Boat", [("spec", shape)], bases=(CustomResource,), kw_only=True)
    return resource(group="g.example.com", version="v1")(boat)


@pytest.mark.parametrize(
    ("field", "default", "reason"),
    [
        (Port, "Wuhan", r"Expected `str` matching regex '\^\[a-z\]\+\$' - at `\$.homePort`"),
        (Port, "", "matching regex"),
        (Knots, 41, "Expected `int` <= 40"),
        (Knots, 0, "Expected `int` >= 1"),
        (Literal["calm", "rough"], "flat", "Invalid enum value 'flat'"),
        (
            Annotated[list[Port], msgspec.Meta(max_length=1)],
            msgspec.field(default_factory=lambda: ["a", "b"]),
            "length",
        ),
        (list[Port], msgspec.field(default_factory=lambda: ["B"]), "matching regex"),
        (Port | None, "B", "matching regex"),
    ],
)
def test_a_default_that_breaks_its_own_constraint_is_refused(field: Any, default: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=f"BoatSpec.home_port: the default .* is invalid: .*{reason}"):
        declared(field, default)


@pytest.mark.parametrize(
    "within", [list.__class_getitem__, lambda each: dict.__class_getitem__((str, each)), lambda each: each | None]
)
def test_a_default_is_checked_at_any_depth(within: Any) -> None:
    with pytest.raises(TypeError, match=r"BoatSpec\.home_port: the default 'Wuhan' is invalid"):
        declared(Port, "Wuhan", within=within)


@dataclasses.dataclass
class Spec:
    port: Port = "B"


@dataclasses.dataclass
class Raft:
    spec: Spec
    metadata: ObjectMeta = dataclasses.field(default_factory=ObjectMeta)


def test_a_default_of_a_dataclass_is_checked() -> None:
    with pytest.raises(TypeError, match=r"Spec\.port: the default 'B' is invalid"):
        resource(group="g.example.com", version="v1")(Raft)


@pytest.mark.parametrize(("field", "default"), [(Port, "wuhan"), (Knots, 40), (Port | None, None), (Any, object)])
def test_a_default_that_fits_is_accepted(field: Any, default: Any) -> None:
    declared(field, None if default is object else default)


def test_an_empty_default_that_is_not_written_is_accepted() -> None:
    declared(Port, "", omit_defaults=True)


def test_an_unknown_argument_is_refused() -> None:
    arguments: Any = {"scope": "Cluster"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'scope'"):
        resource(group="g.example.com", version="v1", **arguments)
