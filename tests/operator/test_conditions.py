"""Conditions: what changes them, and what they answer."""

import asyncio
import datetime as dt
from typing import Any

import msgspec
import pytest

from sampan.core.time import parse_time
from sampan.operator.conditions import Condition, find_condition, is_false, is_true, remove_condition, set_condition
from sampan.testing.time.virtual_time import virtual_time

NOON = "2026-01-02T12:00:00Z"
LATER = "2026-01-02T13:00:00Z"


class Clock:
    """Clock that shows the given time."""

    def __init__(self, hour: int) -> None:
        self._now = dt.datetime(2026, 1, 2, hour, tzinfo=dt.UTC)

    def now(self) -> dt.datetime:
        return self._now


def as_struct(**fields: Any) -> Condition:
    return Condition(**{"type": "Ready", "status": "True", "reason": "Made", **fields})


def as_dict(**fields: Any) -> Any:
    made: Any = msgspec.to_builtins(as_struct(**fields))
    return made


@pytest.fixture(params=[as_struct, as_dict], ids=["struct", "dict"])
def make(request: pytest.FixtureRequest) -> Any:
    return request.param


def dump(conditions: list[Any]) -> Any:
    return msgspec.to_builtins(conditions)


def test_a_new_condition_gets_the_present_time(make: Any) -> None:
    conditions: list[Any] = []
    assert set_condition(conditions, make(observed_generation=3), Clock(12))
    assert dump(conditions) == [
        {"type": "Ready", "status": "True", "reason": "Made", "lastTransitionTime": NOON, "observedGeneration": 3}
    ]


def test_the_time_of_transition_changes_only_with_the_status(make: Any) -> None:
    conditions = [make(last_transition_time=NOON)]
    assert set_condition(conditions, make(reason="Checked", message="all well", observed_generation=4), Clock(13))
    assert dump(conditions)[0] == {
        "type": "Ready",
        "status": "True",
        "reason": "Checked",
        "message": "all well",
        "lastTransitionTime": NOON,
        "observedGeneration": 4,
    }
    assert set_condition(conditions, make(status="False"), Clock(13))
    assert dump(conditions)[0]["lastTransitionTime"] == LATER


def test_a_given_time_of_transition_is_taken(make: Any) -> None:
    conditions = [make(last_transition_time=NOON)]
    set_condition(conditions, make(status="False", last_transition_time="2020-01-01T00:00:00Z"), Clock(13))
    assert dump(conditions)[0]["lastTransitionTime"] == "2020-01-01T00:00:00Z"


def test_to_set_what_is_so_changes_nothing(make: Any) -> None:
    conditions = [make(last_transition_time=NOON)]
    assert not set_condition(conditions, make(), Clock(13))
    assert dump(conditions) == dump([make(last_transition_time=NOON)])


def test_conditions_of_other_types_stay(make: Any) -> None:
    conditions = [make(type="Other", last_transition_time=NOON)]
    set_condition(conditions, make(), Clock(13))
    assert [each["type"] for each in dump(conditions)] == ["Other", "Ready"]
    assert remove_condition(conditions, "Other")
    assert not remove_condition(conditions, "Other")
    assert [each["type"] for each in dump(conditions)] == ["Ready"]


def test_a_condition_is_true_only_for_its_generation(make: Any) -> None:
    conditions = [make(observed_generation=2), make(type="Bad", status="False")]
    assert is_true(conditions, "Ready")
    assert is_true(conditions, "Ready", generation=2)
    assert not is_true(conditions, "Ready", generation=3)
    assert not is_false(conditions, "Ready")
    assert is_false(conditions, "Bad")
    assert not is_true(conditions, "None")
    assert find_condition(conditions, "None") is None


@virtual_time
async def test_the_time_of_a_transition_is_that_of_the_event_loop() -> None:
    conditions = [as_struct(last_transition_time=NOON)]
    set_condition(conditions, as_struct(status="False"))
    await asyncio.sleep(3600)
    set_condition(conditions, as_struct(type="Sunk"))
    times = [parse_time(each.last_transition_time) for each in conditions]
    assert times[1] - times[0] == dt.timedelta(hours=1)
