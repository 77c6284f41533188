"""Parts of objects: required fields that are missing get zero values."""

import enum
from typing import Annotated, Any, Literal

import msgspec
import pytest

from sampan.operator.webhook.partial import completed
from sampan.resource import CustomResource, resource


class Mode(enum.Enum):
    SLOW = "slow"


class Rope(msgspec.Struct):
    knots: int


class BoatSpec(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    long: Annotated[int, msgspec.Meta(gt=0)]
    deep: Annotated[int, msgspec.Meta(le=-3)]
    is_old: bool
    speed: float
    mode: Mode
    colour: Literal["blue", "red"]
    crew: list[str]
    tags: dict[str, str]
    rope: Rope
    ropes: list[Rope] = msgspec.field(default_factory=list)
    other: Rope | None = None
    note: str = "none"


@resource(group="harbour.example.com", version="v1")
class Boat(CustomResource):
    spec: BoatSpec


ZERO = {
    "name": "", "long": 1, "deep": -3, "isOld": False, "speed": 0.0, "mode": "slow", "colour": "blue", "crew": [],
    "tags": {}, "rope": {"knots": 0},
}  # fmt: skip


def test_a_missing_spec_has_all_required_fields_and_can_be_decoded() -> None:
    found = completed({"metadata": {"name": "ada"}}, Boat)
    assert found == {"metadata": {"name": "ada"}, "spec": ZERO}
    assert msgspec.convert(found, Boat).spec.note == "none"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"name": "x", "crew": ["y"], "extra": 1}, {"name": "x", "crew": ["y"], "extra": 1}),
        ({"name": None}, {}),
        ({"ropes": [{}, {"knots": 2}]}, {"ropes": [{"knots": 0}, {"knots": 2}]}),
        ({"other": {}}, {"other": {"knots": 0}}),
        ({"rope": "wrong"}, {"rope": "wrong"}),
    ],
    ids=["present", "null", "items", "optional part", "another type"],
)
def test_what_is_present_stays(spec: dict[str, Any], expected: dict[str, Any]) -> None:
    given = {"spec": spec}
    assert completed(given, Boat)["spec"] == {**ZERO, **expected}
    assert given == {"spec": spec}


def test_a_class_without_fields_is_refused() -> None:
    with pytest.raises(TypeError):
        completed({}, int)
