"""Conditions for which a client can wait."""

from typing import Any

import pytest

from sampan.client import (
    Condition,
    all_of,
    any_of,
    condition_is,
    deleted,
    exists,
    generation_observed,
    json_path,
    not_,
)

Json = dict[str, Any]


def conditions(*found: Json, generation: int = 1, **status: Any) -> Json:
    return {"metadata": {"uid": "u", "generation": generation}, "status": {"conditions": list(found), **status}}


READY = {"type": "Ready", "status": "True"}
EMPTY: Json = {"metadata": {"uid": "u"}}

CASES: list[tuple[str, Condition, Json | None, bool]] = [
    ("exists", exists(), EMPTY, True),
    ("exists not", exists(), None, False),
    ("deleted", deleted(), None, True),
    ("deleted not", deleted(), EMPTY, False),
    ("that one deleted", deleted("u"), None, True),
    ("that one still there", deleted("u"), EMPTY, False),
    ("that one replaced", deleted("old"), EMPTY, True),
    ("condition", condition_is("Ready"), conditions(READY), True),
    ("condition in any case", condition_is("Ready", "true"), conditions(READY), True),
    ("other status", condition_is("Ready", "False"), conditions(READY), False),
    ("other condition", condition_is("Stalled"), conditions(READY), False),
    ("no conditions", condition_is("Ready"), EMPTY, False),
    ("no object", condition_is("Ready"), None, False),
    ("old condition", condition_is("Ready"), conditions({**READY, "observedGeneration": 1}, generation=2), False),
    ("current condition", condition_is("Ready"), conditions({**READY, "observedGeneration": 2}, generation=2), True),
    ("old status", condition_is("Ready"), conditions(READY, generation=2, observedGeneration=1), False),
    ("path", json_path(".status.phase", "Running"), {"status": {"phase": "Running"}}, True),
    ("path in braces", json_path("{.status.phase}", "Running"), {"status": {"phase": "Running"}}, True),
    ("path to another", json_path(".status.phase", "Running"), {"status": {"phase": "Pending"}}, False),
    ("one of several", json_path(".items[*]", 2), {"items": [1, 2]}, True),
    ("true is not 1", json_path(".a", 1), {"a": True}, False),
    ("path to anything", json_path(".status.ip"), {"status": {"ip": "::1"}}, True),
    ("path to nothing", json_path(".status.ip"), {"status": {"ip": ""}}, False),
    ("path without object", json_path(".status.ip"), None, False),
    ("observed", generation_observed(), conditions(observedGeneration=1), True),
    ("observed not", generation_observed(), conditions(generation=2, observedGeneration=1), False),
    ("never observed", generation_observed(), EMPTY, False),
    ("all", all_of(exists(), condition_is("Ready")), conditions(READY), True),
    ("not all", exists() & condition_is("Ready"), EMPTY, False),
    ("any", any_of(deleted(), condition_is("Ready")), conditions(READY), True),
    ("not any", deleted() | condition_is("Ready"), EMPTY, False),
    ("not", not_(exists()), None, True),
    ("not not", ~~exists(), EMPTY, True),
]


@pytest.mark.parametrize(("condition", "obj", "holds"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_condition_holds_or_not(condition: Condition, obj: Json | None, holds: bool) -> None:
    assert condition.holds(obj) is holds


def test_a_condition_reports_what_it_is() -> None:
    text = str(exists() & ~condition_is("Ready", "False") & json_path(".a", 1))
    assert text == "((to exist and not for condition Ready=False) and for .a=1)"


def test_a_path_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError):
        json_path(".a[")
