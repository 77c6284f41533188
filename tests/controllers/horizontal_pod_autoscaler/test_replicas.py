"""Tests of the number of replicas that metrics propose."""

import datetime as dt
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.controllers.horizontal_pod_autoscaler.metrics import MetricsError, PodMetric
from sampan.controllers.horizontal_pod_autoscaler.pods import ScaledPod, decode_pod
from sampan.controllers.horizontal_pod_autoscaler.replicas import Calculation, Tolerances
from sampan.core.time import format_time

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
LONG_AGO = NOW - dt.timedelta(days=1)


def pod(
    name: str, *, phase: str = "Running", ready: bool = True, started: dt.datetime = LONG_AGO, **more: Any
) -> ScaledPod:
    return decode_pod(
        orjson.dumps(
            {
                "metadata": {"name": name, **more},
                "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
                "status": {
                    "phase": phase,
                    "startTime": format_time(started),
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "True" if ready else "False",
                            "lastTransitionTime": format_time(started),
                        }
                    ],
                },
            }
        )
    )


def calculation(
    pods: list[ScaledPod], current: int | None = None, tolerances: Tolerances = Tolerances()
) -> Calculation:
    return Calculation(len(pods) if current is None else current, tolerances, pods, NOW)


def metrics(*values: int) -> dict[str, PodMetric]:
    return {f"p{i}": PodMetric(value, NOW, dt.timedelta(seconds=30)) for i, value in enumerate(values)}


def pods(count: int) -> list[ScaledPod]:
    return [pod(f"p{i}") for i in range(count)]


@pytest.mark.parametrize(
    ("used", "target", "replicas", "utilization"),
    [
        pytest.param((300, 500, 700), 30, 5, 50, id="up"),
        pytest.param((100, 300, 500), 100, 1, 30, id="down"),
        pytest.param((1010, 1030, 1020), 100, 3, 102, id="within the tolerance"),
        pytest.param((1200, 1200, 1200), 100, 4, 120, id="rounded up"),
    ],
)
def test_utilization_is_brought_to_the_target(
    used: tuple[int, ...], target: int, replicas: int, utilization: int
) -> None:
    found = calculation(pods(3)).of_utilization(metrics(*used), "cpu", "", target)
    assert (found.replicas, found.utilization) == (replicas, utilization)


def test_pods_without_metrics_count_as_idle_when_the_load_is_high() -> None:
    found = calculation(pods(4)).of_utilization(metrics(900, 900, 900), "cpu", "", 50)
    assert found.replicas == 6


def test_pods_without_metrics_count_as_busy_when_the_load_is_low() -> None:
    found = calculation(pods(4)).of_utilization(metrics(100, 100, 100), "cpu", "", 50)
    assert found.replicas == 3


def test_unready_pods_do_not_turn_a_rise_into_a_fall() -> None:
    some = [pod("p0"), *(pod(f"p{i}", ready=False, started=NOW) for i in range(1, 4))]
    found = calculation(some).of_utilization(metrics(600, 0, 0, 0), "cpu", "", 50)
    assert found.replicas == 4


def test_pods_that_end_do_not_count() -> None:
    some = [*pods(2), pod("p2", deletionTimestamp="2026-01-02T03:00:00Z"), pod("p3", phase="Failed")]
    found = calculation(some, current=2).of_utilization(metrics(1000, 1000, 9000, 9000), "cpu", "", 50)
    assert found.replicas == 4


def test_the_cpu_of_a_pod_counts_when_it_was_ready_during_the_whole_window() -> None:
    started = NOW - dt.timedelta(seconds=40)
    late = calculation([pod("p0", started=started)]).of_utilization(metrics(1000), "cpu", "", 50)
    assert late.replicas == 2
    with pytest.raises(MetricsError, match="pods might be unready"):
        calculation([pod("p0", started=NOW)]).of_utilization(metrics(1000), "cpu", "", 50)


def test_a_missing_request_is_an_error() -> None:
    with pytest.raises(MetricsError, match="missing request for memory in container main of Pod p0"):
        calculation(pods(1)).of_utilization(metrics(1), "memory", "", 50)


def test_an_unknown_container_is_an_error() -> None:
    with pytest.raises(MetricsError, match="container side not found in Pod p0"):
        calculation(pods(1)).of_utilization(metrics(1), "cpu", "side", 50)


def test_an_average_is_brought_to_the_target() -> None:
    found = calculation(pods(3)).of_average(metrics(20_000, 10_000, 30_000), "", 15_000)
    assert (found.replicas, found.usage) == (4, 20_000)


def test_a_value_is_brought_to_the_target_by_the_ready_pods() -> None:
    some = [*pods(3), pod("p3", ready=False)]
    assert calculation(some).of_value(33_000, 15_000).replicas == 7


def test_a_value_is_shared_by_the_pods() -> None:
    found = calculation(pods(3)).of_value_per_pod(8_600, 2_150, 3)
    assert (found.replicas, found.usage) == (4, 2_867)


def test_tolerances_differ_by_direction() -> None:
    tolerances = Tolerances(down=0.1, up=0.5)
    assert calculation(pods(2), tolerances=tolerances).of_average(metrics(140, 140), "", 100).replicas == 2
    assert calculation(pods(2), tolerances=tolerances).of_average(metrics(80, 80), "", 100).replicas == 2
    assert calculation(pods(2), tolerances=tolerances).of_average(metrics(40, 40), "", 100).replicas == 1


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=20), st.integers(1, 3_000))
def test_more_load_never_proposes_fewer_replicas(used: list[int], target: int) -> None:
    some = calculation(pods(len(used)))
    less = some.of_average(metrics(*used), "", target).replicas
    more = some.of_average(metrics(*(value + 1_000 for value in used)), "", target).replicas
    assert more >= less
