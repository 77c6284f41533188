"""An operator that works without end is named early; honest ones that work long or often are not."""

from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.component_base.resources import CONFIG_MAPS
from sampan.operator.manager import Manager
from sampan.operator.request import Request
from sampan.storage.encoding import encode
from sampan.storage.store import KeyValue, StoreEvent
from sampan.testing import Cluster, NotSettled, Requests
from sampan.testing.journal import JournalEntry
from sampan.testing.observations.endless import (
    LASTING_S,
    PROGRESS_WRITES,
    REPEATS_MAX,
    TOTAL_MAX,
    WINDOW_S,
    EndlessWork,
)
from sampan.testing.operators.running import ReconcileRecord, Running
from sampan.testing.requests import RequestRecord
from tests.testing.broken.parts import ADA, controller

BOX = "/registry/configmaps/default/box"
POD = "/registry/pods/default/web-"
OLD = KeyValue(BOX, b"{}", 1, 1)


@dataclass(eq=False)
class Story:
    """Writes of an operator that reconciles `box`, at times of a test."""

    requests: Requests = field(default_factory=Requests)
    reconciles: list[ReconcileRecord] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    at_s: float = 0.0
    name: str = "operator"

    def __post_init__(self) -> None:
        self.work = EndlessWork(self.requests, [cast(Running, self)], lambda: self.found.append(self.at_s))

    def reconcile(self, name: str = "box") -> None:
        self.reconciles.append(ReconcileRecord(self.at_s, self.name, "boxes", "default", name, "done"))

    def write(self, key: str = BOX, *, created: bool = False, generated: bool = False) -> None:
        value = encode({"metadata": {"generateName": "box-"} if generated else {}})
        self.work.note(JournalEntry(self.at_s, StoreEvent(2, key, value, None if created else OLD)))

    def send(self, actor: str) -> None:
        number = len(self.requests) + 1
        self.requests.add(RequestRecord(actor, number, "update", "", "configmaps", "", "default", "box", self.at_s))

    def repeat(self, count: int, every_s: float) -> None:
        for _ in range(count):
            self.at_s += every_s
            self.reconcile()
            self.write()


@settings(max_examples=20)
@given(every_s=st.floats(0.0012, WINDOW_S / REPEATS_MAX))
def test_fast_writes_of_one_object_are_endless_after_ten_seconds(every_s: float) -> None:
    story = Story()
    story.repeat(PROGRESS_WRITES + int(LASTING_S / every_s) - 1, every_s)
    assert not story.found
    story.repeat(3, every_s)
    assert len(story.found) == 1


def test_a_clock_that_stands_still_ends_the_wait_as_well() -> None:
    story = Story()
    story.repeat(PROGRESS_WRITES + TOTAL_MAX - 1, 0.0)
    assert not story.found
    story.repeat(1, 0.0)
    assert len(story.found) == 1


def test_a_loop_that_ends_with_a_late_event_is_not_endless() -> None:
    story = Story()
    for _ in range(3):
        story.repeat(PROGRESS_WRITES + int(0.9 * LASTING_S / 0.002), 0.002)
        story.at_s += WINDOW_S
    assert not story.found


@settings(max_examples=20)
@given(every_s=st.floats(WINDOW_S / REPEATS_MAX * 1.01, 3600))
def test_writes_of_a_timer_are_not_endless_however_many(every_s: float) -> None:
    story = Story()
    story.repeat(2 * REPEATS_MAX, every_s)
    assert not story.found


def test_a_write_each_second_for_a_day_is_not_endless() -> None:
    story = Story()
    story.repeat(24 * 3600, 1.0)
    assert not story.found


def test_retries_with_backoff_for_hours_are_not_endless() -> None:
    story, delay_s = Story(), 0.005
    while story.at_s < 1000 * 3600:
        story.repeat(1, delay_s)
        delay_s = min(2 * delay_s, 1000.0)
    assert not story.found


def test_polling_without_writes_is_not_endless() -> None:
    story = Story()
    for _ in range(10 * REPEATS_MAX):
        story.at_s += 0.001
        story.reconcile()
    assert not story.found


def test_an_endless_loop_is_reported_once() -> None:
    story = Story()
    story.repeat(3 * TOTAL_MAX, 0.002)
    assert len(story.found) == 1


def test_each_object_is_counted_separately() -> None:
    story = Story()
    for number in range(3 * TOTAL_MAX):
        story.write(f"{POD}{number % 4}")
    assert not story.found


@given(count=st.integers(1, 5))
def test_reconciles_that_write_several_objects_again_and_again_are_endless(count: int) -> None:
    story = Story()
    for number in range(TOTAL_MAX + (count + 1) * PROGRESS_WRITES):
        story.reconcile()
        story.write(f"{POD}{number % count}")
    assert len(story.found) == 1


def test_the_rollout_of_500_pods_is_progress() -> None:
    story = Story()
    for _ in range(6):
        for number in range(500):
            story.at_s += 0.001
            story.write(f"{POD}{number}", generated=True)
            story.repeat(1, 0.001)
    assert not story.found


def test_a_chain_of_reconciles_with_one_new_child_each_is_progress() -> None:
    story = Story()
    for number in range(2 * TOTAL_MAX):
        story.repeat(1, 0.002)
        story.write(f"{POD}{number}", created=True)
    assert not story.found


def test_new_children_with_generated_names_are_endless() -> None:
    story = Story()
    for number in range(TOTAL_MAX):
        story.reconcile()
        story.write(f"{POD}{number}", created=True, generated=True)
    assert story.found


def test_one_reconcile_may_create_many_children_with_generated_names() -> None:
    story = Story()
    story.reconcile()
    for number in range(2 * TOTAL_MAX):
        story.write(f"{POD}{number}", created=True, generated=True)
    assert not story.found


@pytest.mark.parametrize(("actor", "endless"), [("test", False), ("operator", True), ("loops", True)])
def test_only_writes_of_other_clients_are_progress(actor: str, endless: bool) -> None:
    story = Story()
    for _ in range(4):
        story.send(actor)
        story.repeat(4 * REPEATS_MAX, 0.002)
    assert bool(story.found) == endless


@pytest.mark.parametrize("resource", ["leases", "events"])
def test_leases_and_events_do_not_matter(resource: str) -> None:
    story = Story()
    for number in range(2 * TOTAL_MAX):
        story.reconcile()
        story.write(f"/registry/{resource}/default/{number % 2}")
    assert not story.found
    for number in range(TOTAL_MAX + PROGRESS_WRITES):
        story.repeat(1, 0.002)
        story.write(f"/registry/{resource}/default/new-{number}", created=True)
    assert story.found


async def _lengthened(manager: Manager, request: Request) -> None:
    boats = manager.client.resource(CONFIG_MAPS)
    found = await boats.get(request.name)
    await boats.update({**found, "data": {"length": str(int(found["data"]["length"]) + 1)}})


async def _only_ada(manager: Manager, request: Request) -> None:
    if request.name == "ada":
        await _lengthened(manager, request)


async def test_an_endless_operator_is_named_within_seconds_of_virtual_time(cluster: Cluster) -> None:
    running = cluster.run(controller(_only_ada))
    await cluster.apply(ADA)
    with pytest.raises(NotSettled) as caught:
        await cluster.settled()
    await running.crash()
    first, most, *_, last = str(caught.value).splitlines()
    assert first == "the cluster did not settle within 10 s; most often:"
    assert most.endswith(" x reconcile of default/ada by boats: done")
    assert last == "  stopped early: 100 repetitions a second, without progress"
