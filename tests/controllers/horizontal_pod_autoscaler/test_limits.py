"""Tests of the limits on scaling."""

import datetime as dt
from typing import Any

import pytest

from sampan.controllers.horizontal_pod_autoscaler.limits import Proposal, ScalingHistory, limit

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


def proposal(current: int, desired: int, behavior: Any = None, *, after_s: float = 0) -> Proposal:
    return Proposal(current, desired, 1, 100, behavior, NOW + dt.timedelta(seconds=after_s))


def rules(*, up: Any = None, down: Any = None) -> Any:
    policies = [{"type": "Percent", "value": 100, "periodSeconds": 15}]
    return {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": policies, **(up or {})},
        "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": policies, **(down or {})},
    }


@pytest.mark.parametrize(
    ("current", "desired", "replicas", "reason"),
    [
        pytest.param(1, 3, 3, "DesiredWithinRange", id="within"),
        pytest.param(1, 9, 4, "ScaleUpLimit", id="to four at least"),
        pytest.param(10, 50, 20, "ScaleUpLimit", id="twice as many"),
        pytest.param(80, 150, 100, "TooManyReplicas", id="the most"),
        pytest.param(3, 0, 1, "TooFewReplicas", id="the least"),
    ],
)
def test_without_behavior_a_target_at_most_doubles(current: int, desired: int, replicas: int, reason: str) -> None:
    found = limit(proposal(current, desired), ScalingHistory())
    assert (found.replicas, found.limit[0]) == (replicas, reason)
    assert found.limited is (reason != "DesiredWithinRange")


def test_without_behavior_the_highest_recent_recommendation_counts() -> None:
    history = ScalingHistory()
    limit(proposal(8, 8), history)
    found = limit(proposal(8, 2, after_s=200), history)
    assert (found.replicas, found.able[0]) == (8, "ScaleDownStabilized")
    assert limit(proposal(8, 2, after_s=301), history).replicas == 2


def test_a_pods_policy_limits_the_change_in_its_period() -> None:
    behavior = rules(up={"policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]})
    history = ScalingHistory()
    first = limit(proposal(10, 30, behavior), history)
    assert (first.replicas, first.limit[0]) == (14, "ScaleUpLimit")
    history.changed(10, 14, behavior, NOW)
    assert limit(proposal(14, 30, behavior, after_s=30), history).replicas == 14
    assert limit(proposal(14, 30, behavior, after_s=61), history).replicas == 18


@pytest.mark.parametrize(("select", "replicas"), [("Max", 20), ("Min", 12), ("Disabled", 10)])
def test_the_selected_policy_counts(select: str, replicas: int) -> None:
    policies = [
        {"type": "Percent", "value": 100, "periodSeconds": 15},
        {"type": "Pods", "value": 2, "periodSeconds": 15},
    ]
    behavior = rules(up={"policies": policies, "selectPolicy": select})
    assert limit(proposal(10, 50, behavior), ScalingHistory()).replicas == replicas


def test_a_percent_policy_limits_scaling_down() -> None:
    behavior = rules(down={"policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]})
    found = limit(proposal(50, 5, behavior), ScalingHistory())
    assert (found.replicas, found.limit[0]) == (45, "ScaleDownLimit")


def test_scale_up_stabilization_takes_the_lowest_recommendation() -> None:
    behavior = rules(up={"stabilizationWindowSeconds": 120})
    history = ScalingHistory()
    limit(proposal(5, 6, behavior), history)
    found = limit(proposal(5, 10, behavior, after_s=60), history)
    assert (found.replicas, found.able[0]) == (6, "ScaleUpStabilized")


def test_the_history_does_not_grow_without_bound() -> None:
    history, behavior = ScalingHistory(), rules()
    for second in range(0, 3_600, 15):
        limit(proposal(5, 6, behavior, after_s=second), history)
        history.changed(5, 6, behavior, NOW + dt.timedelta(seconds=second))
    assert len(history.recommendations) <= 2
    assert len(history.ups) <= 2
