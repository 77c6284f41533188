"""Expiry looks after itself while a store is open."""

import asyncio

import pytest

from sampan.storage.expiry import Expiry
from sampan.storage.memory import MemoryStore
from tests.storage.conftest import Clock


async def test_rows_that_are_due_are_deleted_without_being_requested(clock: Clock) -> None:
    store = MemoryStore(clock=clock, expiry_interval_s=0.001)
    await store.open()
    await store.create("/events/a", b"1", ttl_s=3600)
    clock.now += 3600
    async with asyncio.timeout(60), store.watch("/events/", "/events0", 2) as watch:
        batch = await anext(watch)
    assert [event.value for event in batch.events] == [None]
    await store.close()


def test_rows_are_taken_when_due_and_only_once(clock: Clock) -> None:
    expiry = Expiry(clock, 1)
    expiry.add(clock.now + 2, "b", 2)
    expiry.add(clock.now + 1, "a", 1)
    clock.now += 1
    assert expiry.take() == [("a", 1)]
    clock.now += 1
    assert expiry.take() == [("b", 2)]
    assert expiry.take() == []


def test_a_flood_is_taken_in_bounded_chunks(clock: Clock) -> None:
    expiry = Expiry(clock, 1)
    for number in range(1200):
        expiry.add(clock.now, str(number), number)
    assert [len(expiry.take()) for _ in range(4)] == [500, 500, 200, 0]


@pytest.mark.parametrize(("ttl_s", "due"), [(0, 0.0), (60, 1_000_060.0)])
def test_no_ttl_is_never_due(clock: Clock, ttl_s: int, due: float) -> None:
    assert Expiry(clock, 1).due_at(ttl_s) == due
