"""Stages of a shutdown."""

import msgspec
import pytest

from sampan.node.shutdown.policy import ShutdownStage, shutdown_policy
from sampan.node.views.pod import Pod

CRITICAL = 2_000_000_000


def pod(name: str, priority: int | None = None) -> Pod:
    return msgspec.convert({"metadata": {"name": name}, "spec": {"priority": priority}}, Pod)


def test_critical_pods_end_last() -> None:
    policy = shutdown_policy(30.0, 10.0, "")
    found = policy.staged([pod("critical", CRITICAL + 1000), pod("web"), pod("low", -5)])
    assert [(stage, [each.metadata.name for each in pods]) for stage, pods in found] == [
        (ShutdownStage(0, 20.0), ["web", "low"]),
        (ShutdownStage(CRITICAL, 10.0), ["critical"]),
    ]


def test_stages_by_priority_are_sorted() -> None:
    policy = shutdown_policy(0.0, 0.0, "10000=10s,0=1m,20000=0s")
    assert policy.stages == (ShutdownStage(0, 60.0), ShutdownStage(10000, 10.0), ShutdownStage(20000, 0.0))
    assert [policy.stage_of(priority) for priority in (-1, 0, 9999, 10000, 19999, CRITICAL)] == [0, 0, 0, 1, 1, 2]
    assert policy.total_s == 70.0


def test_shutdown_is_off_by_default() -> None:
    assert shutdown_policy(0.0, 0.0, "").stages == ()


@pytest.mark.parametrize(
    ("grace_s", "critical_s", "by_priority", "text"),
    [
        (0.5, 0.0, "", "--shutdown-grace-period must be either zero or at least 1s"),
        (10.0, 20.0, "", "--shutdown-grace-period-critical-pods must not be longer than --shutdown-grace-period"),
        (10.0, 0.0, "0=1s", "cannot be combined with --shutdown-grace-period"),
        (0.0, 0.0, "0", "--shutdown-grace-period-by-pod-priority: '0' is not PRIORITY=DURATION, as in 0=30s"),
        (0.0, 0.0, "0=1s,0=2s", "each priority needs one duration"),
    ],
)
def test_contradicting_options_are_refused(grace_s: float, critical_s: float, by_priority: str, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        shutdown_policy(grace_s, critical_s, by_priority)
    assert text in str(caught.value)
