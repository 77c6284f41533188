"""Tests of the scheduling queue."""

import asyncio
from collections.abc import Mapping
from typing import Any

from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.scheduling_queue import PodBackoff, SchedulingQueue
from sampan.testing.time.virtual_time import elapsed, virtual_time
from tests.scheduler.objects import pod

FIT = frozenset({"Fit"})


def is_large(pod: PodInfo, old: Any, new: Any) -> bool:
    return bool(new == "large")


HINTS: Mapping[str, Mapping[ClusterEvent, Hint]] = {
    "Fit": {
        ClusterEvent.NODE_ADDED: is_large,
        ClusterEvent.POD_DELETED: always,
        ClusterEvent.SELF_UPDATED: always,
    },
    "Ports": {},
}


def new_queue() -> SchedulingQueue:
    return SchedulingQueue(lambda pod: " ".join(pod.constraints.gates), lambda pod: HINTS)


async def popped(queue: SchedulingQueue) -> str:
    return (await queue.pop()).pod.name


async def failed(queue: SchedulingQueue, name: str) -> None:
    """Fail an attempt because the Pod fits no Node."""
    queue.add(pod(name))
    queue.requeue(await queue.pop(), FIT)


@virtual_time
async def test_the_most_important_pod_comes_first_then_the_oldest() -> None:
    queue = new_queue()
    queue.add(pod("old"))
    await asyncio.sleep(1)
    queue.add(pod("new"))
    queue.add(pod("important", priority=10))
    assert [await popped(queue) for _ in range(3)] == ["important", "old", "new"]


@virtual_time
async def test_a_deleted_pod_is_not_scheduled() -> None:
    queue = new_queue()
    queue.add(pod("a"))
    queue.add(pod("b"))
    queue.delete("a")
    assert await popped(queue) == "b"
    assert len(queue) == 0


@virtual_time
async def test_a_gated_pod_waits_for_its_gate() -> None:
    queue = new_queue()
    queue.add(pod("a", schedulingGates=[{"name": "g"}]))
    assert queue.pending() == {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 1}
    queue.on_event(ClusterEvent.WILDCARD)
    assert queue.pending()["gated"] == 1
    queue.update(pod("a"))
    assert await popped(queue) == "a"


@virtual_time
async def test_an_event_that_no_plugin_waits_for_moves_no_pods() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.on_event(ClusterEvent.NAMESPACE_LABELS)
    queue.on_event(ClusterEvent.NODE_ADDED, None, "small")
    assert queue.pending()["unschedulable"] == 1


@virtual_time
async def test_an_event_that_a_hint_accepts_moves_the_pod() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.on_event(ClusterEvent.NODE_ADDED, None, "large")
    assert queue.pending()["backoff"] == 1
    assert await popped(queue) == "a"


@virtual_time
async def test_events_during_an_attempt_are_not_missed() -> None:
    queue = new_queue()
    queue.add(pod("a"))
    queued = await queue.pop()
    queue.on_event(ClusterEvent.POD_DELETED)
    queue.requeue(queued, FIT)
    assert queue.pending()["backoff"] == 1


@virtual_time
async def test_other_pods_come_before_pods_in_backoff() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.on_event(ClusterEvent.POD_DELETED)
    queue.add(pod("b"))
    assert [await popped(queue), await popped(queue)] == ["b", "a"]


@virtual_time
async def test_a_pod_is_active_after_its_backoff() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.on_event(ClusterEvent.POD_DELETED)
    await asyncio.sleep(1)
    queue.add(pod("b"))
    assert await popped(queue) == "a"


@virtual_time
async def test_backoff_after_an_error_is_not_shortened() -> None:
    queue = new_queue()
    queue.add(pod("a"))
    queue.requeue(await queue.pop(), frozenset(), error=True)
    assert await elapsed(popped(queue)) == 1.0


@virtual_time
async def test_an_unschedulable_pod_is_retried_after_a_timeout() -> None:
    queue = new_queue()
    await failed(queue, "a")
    run = asyncio.create_task(queue.run())
    assert 300.0 <= await elapsed(popped(queue)) <= 330.0
    run.cancel()


@virtual_time
async def test_a_changed_pod_is_retried() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.update(pod("a", labels={"app": "web"}))
    assert queue.pending()["unschedulable"] == 0


@virtual_time
async def test_status_updates_of_the_scheduler_move_no_pods() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.update(pod("a", status={"phase": "Pending"}))
    assert queue.pending()["unschedulable"] == 1


@virtual_time
async def test_nominations_come_from_the_status_and_stay_until_removed() -> None:
    queue = new_queue()
    queue.add(pod("a", status={"nominatedNodeName": "n"}))
    queue.update(pod("a"))
    assert queue.nominator.node_of("a") == "n"
    queue.delete("a")
    assert not queue.nominator


def test_backoff_doubles_up_to_its_maximum() -> None:
    assert [PodBackoff().after(failures) for failures in (0, 1, 2, 3, 4, 5, 50)] == [
        0.0,
        1.0,
        2.0,
        4.0,
        8.0,
        10.0,
        10.0,
    ]


@virtual_time
async def test_incoming_pods_are_counted_by_event() -> None:
    queue = new_queue()
    await failed(queue, "a")
    queue.on_event(ClusterEvent.POD_DELETED)
    await popped(queue)
    assert queue.incoming == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("backoff", "AssignedPodDelete"): 1,
        ("active", "PopFromBackoffQ"): 1,
    }


@virtual_time
async def test_the_first_attempt_counts_from_the_removal_of_gates() -> None:
    queue = new_queue()
    queue.add(pod("a", schedulingGates=[{"name": "wait"}]))
    await asyncio.sleep(60)
    queue.update(pod("a"))
    assert (await queue.pop()).first_at == asyncio.get_running_loop().time()
