"""Causes of keys in a queue."""

from sampan.operator.queue import CAUSES_MAX, RETRY, Cause, WorkQueue
from sampan.testing.time.virtual_time import virtual_time

CHANGED = Cause("update", key="default/a", resource_version="2")
OWNED = Cause("update", key="default/child", resource_version="3")


@virtual_time
async def test_two_merged_events_are_both_listed() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a", cause=CHANGED)
    queue.add("a", cause=OWNED)
    queue.add("a", cause=CHANGED)
    assert len(queue) == 1
    assert (await queue.take()).causes == ((CHANGED, OWNED), 0)


@virtual_time
async def test_further_causes_are_only_counted() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for number in range(CAUSES_MAX + 5):
        queue.add("a", cause=Cause("update", key=f"default/{number}"))
    causes = (await queue.take()).causes
    assert (len(causes.listed), causes.more) == (CAUSES_MAX, 5)


@virtual_time
async def test_an_event_during_the_processing_is_a_cause_of_the_next_one() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a", cause=CHANGED)
    first = await queue.take()
    queue.add("a", cause=OWNED)
    queue.add_rate_limited("a", cause=RETRY)
    queue.done("a")
    assert first.causes.listed == (CHANGED,)
    assert (await queue.take()).causes.listed == (OWNED, RETRY)


@virtual_time
async def test_an_event_joins_the_causes_of_a_key_that_waits() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 60, cause=RETRY)
    queue.add("a", cause=CHANGED)
    assert (await queue.take()).causes.listed == (RETRY, CHANGED)


@virtual_time
async def test_the_queue_shows_when_a_key_is_due() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("later", 60)
    assert queue.due_at("absent") is None
    assert queue.oldest_due_at() is None
    assert queue.waiting == 1
    queue.add("now")
    due = queue.due_at("later")
    assert due is not None
    assert due - (queue.oldest_due_at() or 0) == 60
    item = await queue.take()
    assert queue.running_since("now") == item.due_since
