"""Effects of queued deltas on a store and a handler, with both queues."""

import asyncio
from collections.abc import Callable

import pytest

from sampan.informer import DeltaFIFO, Indexer, InformerMetrics, InOrderQueue, Queue, Registration
from sampan.informer.applier import Applier
from sampan.resource import Object
from sampan.testing.time.virtual_time import run_virtual, settle
from tests.informer.refs import ref
from tests.informer.server import Recorder


class Stage:
    """A store that holds `ns/a` at version 1, a queue, and one handler."""

    def __init__(self, queue_of: Callable[[Indexer[Object]], Queue[Object]]) -> None:
        self.store: Indexer[Object] = Indexer()
        self.queue = queue_of(self.store)
        self.recorder = Recorder()
        self.registration: Registration[Object] = Registration(self.recorder, resync_s=0, on_remove=lambda _: None)
        self.metrics = InformerMetrics()
        self.applier = Applier(self.store, [self.registration], self.metrics)
        self.queue.replace([ref("a", 1)], "1")

    async def notifications(self) -> list[str]:
        """Return the events of the handler for all queued deltas."""
        while len(self.queue):
            self.applier.apply(await self.queue.pop_batch())
        task = asyncio.create_task(self.registration.run())
        await settle(lambda: not self.registration.pending)
        self.registration.remove()
        await task
        return self.recorder.notifications


def in_order(_: Indexer[Object]) -> Queue[Object]:
    return InOrderQueue()


def delta_fifo(store: Indexer[Object]) -> Queue[Object]:
    return DeltaFIFO(store)


QUEUES = {"in-order": in_order, "delta-fifo": delta_fifo}


def notifications_of(queue: str, steps: Callable[[Stage], None]) -> tuple[list[str], Stage]:
    async def run() -> tuple[list[str], Stage]:
        stage = Stage(QUEUES[queue])
        stage.applier.apply(await stage.queue.pop_batch())
        steps(stage)
        return (await stage.notifications())[1:], stage

    return run_virtual(run())


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queued_deletion_is_not_reported_again_by_a_list(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.delete(ref("a", 5))
        stage.queue.replace([], "6")

    notifications, stage = notifications_of(queue, steps)
    assert notifications == ["delete ns/a@5"]
    assert stage.store.keys() == []
    assert stage.store.resource_version == "6"


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queued_deletion_survives_a_list_that_has_the_name_again(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.delete(ref("a", 5))
        stage.queue.replace([ref("a", 6, uid="another")], "6")

    notifications, stage = notifications_of(queue, steps)
    assert notifications == ["delete ns/a@5", "add ns/a@6"]
    assert [one.uid for one in stage.store.refs()] == ["another"]


@pytest.mark.parametrize("queue", QUEUES)
def test_an_object_added_before_a_list_without_it_is_reported_as_lost(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.add(ref("b", 5))
        stage.queue.replace([ref("a", 1)], "6")

    notifications, _ = notifications_of(queue, steps)
    assert notifications == ["add ns/b@5", "lost ns/b@5"]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_resync_behind_a_change_reports_no_older_state(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.update(ref("a", 5))
        stage.registration.resyncing = True
        stage.queue.resync()

    notifications, _ = notifications_of(queue, steps)
    assert notifications[0] == "update ns/a@1>5"
    assert set(notifications[1:]) <= {"update ns/a@5>5"}


@pytest.mark.parametrize("queue", QUEUES)
def test_late_events_lead_neither_the_store_nor_its_version_back(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.update(ref("a", 5))
        stage.queue.add(ref("b", 9))
        stage.queue.update(ref("a", 3))
        stage.queue.delete(ref("a", 2))
        stage.queue.delete(ref("b", 10))
        stage.queue.add(ref("b", 9))

    notifications, stage = notifications_of(queue, steps)
    assert sorted(notifications) == ["add ns/b@9", "delete ns/b@10", "update ns/a@1>5"]
    assert stage.store.resource_version == "10"
    assert stage.metrics.stale == 3


@pytest.mark.parametrize("queue", QUEUES)
def test_a_late_deletion_of_an_older_object_does_not_take_the_new_one(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.replace([ref("a", 8, uid="another")], "8")
        stage.queue.delete(ref("a", 7))

    notifications, stage = notifications_of(queue, steps)
    assert notifications == ["update ns/a@1>8"]
    assert stage.store.keys() == ["ns/a"]


@pytest.mark.parametrize("queue", QUEUES)
def test_an_object_that_comes_back_into_a_selector_is_news(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.delete(ref("a", 5))
        stage.queue.add(ref("a", 6))

    notifications, _ = notifications_of(queue, steps)
    assert notifications == ["delete ns/a@5", "add ns/a@6"]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_list_leads_back_when_the_server_has_gone_back(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.update(ref("a", 50))
        stage.queue.replace([ref("a", 3)], "4")

    notifications, stage = notifications_of(queue, steps)
    assert notifications == ["update ns/a@1>50", "update ns/a@50>3"]
    assert stage.store.resource_version == "4"


@pytest.mark.parametrize("queue", QUEUES)
def test_objects_without_versions_are_always_news(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.update(ref("a", resourceVersion=""))
        stage.queue.update(ref("a", resourceVersion="", labels={"b": "c"}))

    _, stage = notifications_of(queue, steps)
    assert [one.labels for one in stage.store.refs()] == [{"b": "c"}]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_late_event_of_an_object_that_was_replaced_brings_it_not_back(queue: str) -> None:
    def steps(stage: Stage) -> None:
        stage.queue.update(ref("a", 8, uid="another"))
        stage.queue.delete(ref("a", 9, uid="another"))
        stage.queue.update(ref("a", 5))

    notifications, stage = notifications_of(queue, steps)
    assert notifications == ["update ns/a@1>8", "delete ns/a@9"]
    assert stage.store.keys() == []


def test_a_late_event_of_an_object_that_a_list_did_not_have_brings_it_not_back() -> None:
    def steps(stage: Stage) -> None:
        stage.queue.replace([], "6")
        stage.queue.update(ref("a", 5))
        stage.queue.add(ref("b", 7))

    notifications, stage = notifications_of("in-order", steps)
    assert notifications == ["lost ns/a@1", "add ns/b@7"]
    assert stage.store.keys() == ["ns/b"]
