"""Disruption budgets and evictions, without a server."""

from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.registry.kinds.policy.eviction import budgets_of, take_disruption

NOW = "2026-01-01T00:00:00Z"
BEFORE = "2025-01-01T00:00:00Z"


def budget(selector: Any = None, **status: Any) -> dict[str, Any]:
    """Return a budget with a selector and a status."""
    return {"metadata": {"name": "b"}, "spec": {"selector": selector}, "status": status}


def test_a_disruption_is_recorded_with_its_time() -> None:
    found = budget(disruptionsAllowed=3, disruptedPods={"other": BEFORE})
    take_disruption(found, "p", NOW)
    assert found["status"] == {"disruptionsAllowed": 2, "disruptedPods": {"other": BEFORE, "p": NOW}}


def test_a_negative_budget_is_inconsistent() -> None:
    with pytest.raises(StatusError) as caught:
        take_disruption(budget(disruptionsAllowed=-1), "p", NOW)
    assert (caught.value.code, caught.value.message) == (
        403,
        'poddisruptionbudget.policy "b" is forbidden: pdb disruptions allowed is negative',
    )


@pytest.mark.parametrize(("was", "since"), [("True", NOW), ("False", BEFORE)])
def test_the_time_of_a_condition_changes_with_its_value_alone(was: str, since: str) -> None:
    condition = {"type": "DisruptionAllowed", "status": was, "lastTransitionTime": BEFORE, "reason": "X"}
    found = budget(disruptionsAllowed=1, conditions=[{"type": "Other"}, condition])
    take_disruption(found, "p", NOW)
    assert found["status"]["conditions"][1] == {
        "type": "DisruptionAllowed",
        "status": "False",
        "lastTransitionTime": since,
        "reason": "InsufficientPods",
        "message": "",
    }


@pytest.mark.parametrize(
    ("selector", "selects"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Never"}]}, False),
    ],
    ids=["none", "everything", "fits", "other", "broken"],
)
def test_a_budget_selects_pods_by_their_labels(selector: Any, selects: bool) -> None:
    pod = {"metadata": {"name": "p", "labels": {"app": "web"}}}
    assert bool(budgets_of(pod, [budget(selector)])) is selects
