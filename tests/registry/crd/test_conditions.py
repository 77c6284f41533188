"""Conditions of a CRD."""

import pytest

from sampan.registry.crd.conditions import make_condition, set_condition

NOW = "2026-01-02T00:00:00Z"


@pytest.mark.parametrize("since", [None, "2026-01-01T00:00:00Z"], ids=["unset", "set"])
def test_a_condition_keeps_its_time_of_transition_if_it_has_one(since: str | None) -> None:
    desired = make_condition("Established", status=True, reason="R", message="")
    crd = {"status": {"conditions": [{**desired, "lastTransitionTime": since}]}}
    set_condition(crd, desired, NOW)
    assert crd["status"]["conditions"][0]["lastTransitionTime"] == (since or NOW)
