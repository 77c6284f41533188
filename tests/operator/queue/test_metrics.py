"""Metrics of work queues in a scrape."""

import asyncio

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from sampan.operator.queue import LOW_PRIORITY, WorkQueue, WorkQueueMetrics
from sampan.testing.time.virtual_time import virtual_time


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    """One sample of the queue called q."""
    return registry.get_sample_value(name, {"name": "q", "controller": "q", **labels})


@virtual_time
async def test_depth_is_reported_by_priority() -> None:
    registry = CollectorRegistry()
    queue: WorkQueue[str] = WorkQueue("q", metrics=WorkQueueMetrics(registry))
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("b", priority=LOW_PRIORITY)
    queue.add_after("c", 1)
    assert value(registry, "workqueue_depth", priority="0") == 1
    assert value(registry, "workqueue_depth", priority="-100") == 1


@virtual_time
async def test_adds_and_retries_are_counted() -> None:
    registry = CollectorRegistry()
    queue: WorkQueue[str] = WorkQueue("q", metrics=WorkQueueMetrics(registry))
    queue.add("a")
    queue.add("a")
    queue.add_after("b", 1)
    queue.add_rate_limited("c")
    assert value(registry, "workqueue_adds_total") == 1
    assert value(registry, "workqueue_retries_total") == 2
    await asyncio.sleep(1)
    assert value(registry, "workqueue_adds_total") == 3


@virtual_time
async def test_latency_and_work_are_timed() -> None:
    registry = CollectorRegistry()
    queue: WorkQueue[str] = WorkQueue("q", metrics=WorkQueueMetrics(registry))
    queue.add("a")
    await asyncio.sleep(3)
    await queue.get()
    await asyncio.sleep(20)
    queue.done("a")
    assert value(registry, "workqueue_queue_duration_seconds_sum") == 3
    assert value(registry, "workqueue_work_duration_seconds_sum") == 20
    assert value(registry, "workqueue_work_duration_seconds_bucket", le="10") == 0
    assert value(registry, "workqueue_work_duration_seconds_bucket", le="100") == 1


@virtual_time
async def test_unfinished_work_grows_until_done() -> None:
    registry = CollectorRegistry()
    queue: WorkQueue[str] = WorkQueue("q", metrics=WorkQueueMetrics(registry))
    for key in ("a", "b"):
        queue.add(key)
        await queue.get()
        await asyncio.sleep(10)
    assert value(registry, "workqueue_unfinished_work_seconds") == 30
    assert value(registry, "workqueue_longest_running_processor_seconds") == 20
    queue.done("a")
    assert value(registry, "workqueue_longest_running_processor_seconds") == 10


@virtual_time
async def test_too_many_priorities_go_under_one_name() -> None:
    registry = CollectorRegistry()
    queue: WorkQueue[int] = WorkQueue("q", metrics=WorkQueueMetrics(registry))
    for number in range(30):
        queue.add(number, priority=number)
    assert value(registry, "workqueue_depth", priority="exceeded_cardinality_limit") == 30


@virtual_time
async def test_two_queues_share_a_registry() -> None:
    registry = CollectorRegistry()
    metrics = WorkQueueMetrics(registry)
    for name in ("one", "two"):
        WorkQueue(name, metrics=metrics)
    text = generate_latest(registry).decode()
    assert text.count("# TYPE workqueue_depth gauge") == 1
    assert 'workqueue_adds_total{controller="two",name="two"} 0.0' in text
