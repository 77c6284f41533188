"""Tests of `KindValidator`."""

import pytest

from sampan.resource import Object
from sampan.resource.validation import KindValidator
from tests.resource.kinds import Boat, BoatSpec, Buoy, BuoySpec, Mode


def test_a_valid_object_has_no_errors() -> None:
    assert KindValidator(Boat).faults(Boat(spec=BoatSpec(length=30))) == []


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"length": 0}, "spec.length: Invalid value: 0: spec.length in body should be greater than or equal to 1"),
        ({}, "spec.length: Required value"),
        ({"length": 300, "mode": "Fast"}, "<nil>: Invalid value: long boats are slow"),
        ({"length": 3, "mode": "Idle"}, 'spec.mode: Unsupported value: "Idle": supported values: "Fast", "Slow"'),
    ],
)
def test_errors_have_the_servers_messages(spec: Object, fault: str) -> None:
    [found] = KindValidator(Boat).faults({"spec": spec})
    assert str(found) == fault


def test_immutable_fields_can_be_set_but_not_changed() -> None:
    check = KindValidator(Boat)
    old = Boat(spec=BoatSpec(length=3, name_plate="A"))
    assert [fault.detail for fault in check.faults(Boat(spec=BoatSpec(length=3, name_plate="B")), old)] == [
        "field is immutable"
    ]


def test_defaults_are_filled_in() -> None:
    spec = KindValidator(Boat).defaulted(Boat(spec=BoatSpec(length=3)))["spec"]
    assert (spec["mode"], spec["namePlate"], spec["replicas"]) == (Mode.SLOW, "Sampan", 1)


def test_rules_of_fields() -> None:
    assert [fault.detail for fault in KindValidator(Buoy).faults(Buoy(BuoySpec("blue")))] == ["red or green"]
