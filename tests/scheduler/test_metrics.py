"""Tests of a scheduler's metrics."""

import re

import pytest
from prometheus_client import generate_latest

from sampan.component_base.resources import PODS
from sampan.scheduler.metrics import SAMPLE_EVERY, Histogram, SchedulerMetrics
from sampan.scheduler.queue.queued_pod import QueuedPod
from sampan.scheduler.set_up import set_up
from tests.controllers.cluster import Working, cluster
from tests.scheduler.objects import node_object, pod, pod_object
from tests.scheduler.test_scheduler import bound, make_nodes, make_pods, not_scheduled


def values(work: Working) -> dict[str, float]:
    """Return the samples of a scrape."""
    found = re.findall(r"^(scheduler_\S+) (\S+)$", generate_latest(work.manager.registry).decode(), re.MULTILINE)
    return {name: float(value) for name, value in found}


async def test_metrics_count_bound_and_waiting_pods() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("n", cpu="1"))
        await make_pods(work, pod_object("fits", requests={"cpu": "1"}))
        assert await bound(work, "fits") == "n"
        await make_pods(work, pod_object("waits", requests={"cpu": "1"}))
        await work.until(PODS, "waits", not_scheduled)
        found = values(work)
    profile = 'profile="default-scheduler"'
    for name in ("schedule_attempts_total", "scheduling_attempt_duration_seconds_count"):
        assert found[f'scheduler_{name}{{{profile},result="scheduled"}}'] == 1
        assert found[f'scheduler_{name}{{{profile},result="unschedulable"}}'] == 1
    assert found['scheduler_pending_pods{queue="unschedulable"}'] == 1
    assert found['scheduler_pending_pods{queue="active"}'] == 0
    assert found['scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"}'] == 1
    assert found["scheduler_scheduling_algorithm_duration_seconds_count"] == 2
    assert found['scheduler_queue_incoming_pods_total{event="UnschedulablePodAdd",queue="active"}'] == 2
    assert found['scheduler_cache_size{type="nodes"}'] == found['scheduler_cache_size{type="pods"}'] == 1
    assert found[
        'scheduler_plugin_execution_duration_seconds_count{extension_point="Filter",plugin="NodeResourcesFit"}'
    ]


def test_one_in_ten_attempts_measures_its_plugins() -> None:
    metrics, queued = SchedulerMetrics(), QueuedPod(pod("a"), 0.0, 0.0)
    requested = [metrics.began(queued) is not None for _ in range(3 * SAMPLE_EVERY)]
    assert requested == [True, *[False] * (SAMPLE_EVERY - 1)] * 3


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (99, "15+")])
def test_attempts_are_counted_up_to_fifteen(attempts: int, label: str) -> None:
    metrics = SchedulerMetrics()
    metrics.bound(QueuedPod(pod("a"), 0.0, 0.0, attempts=attempts), 2.0)
    assert list(metrics.sli) == [(label,)]
    assert metrics.sli[(label,)].sum == 2.0


def test_buckets_include_their_upper_bound() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 3.0):
        histogram.observe(value)
    assert histogram.buckets() == [("1.0", 2.0), ("2.0", 3.0), ("+Inf", 4.0)]
    assert (histogram.count, histogram.sum) == (4, 6.0)
