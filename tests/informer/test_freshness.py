"""Deletions are remembered for as long as late events can come, and no longer."""

import asyncio

from sampan.informer.freshness import REMEMBERED_MAX, REMEMBERED_S, Freshness
from sampan.informer.ref import Ref
from sampan.resource import Object
from sampan.testing.time.virtual_time import virtual_time
from tests.informer.refs import ref


def deleted(freshness: Freshness[Object], numbers: range) -> None:
    for number in numbers:
        freshness.deleted(f"u{number}", "7")


def late(number: int) -> Ref[Object]:
    return ref("a", 6, uid=f"u{number}")


@virtual_time
async def test_the_latest_deletions_are_remembered() -> None:
    freshness = Freshness[Object]()
    deleted(freshness, range(3 * REMEMBERED_MAX))
    latest = range(2 * REMEMBERED_MAX, 3 * REMEMBERED_MAX)
    assert not any(freshness.is_new(late(number), None) for number in latest)


@virtual_time
async def test_old_deletions_take_no_memory() -> None:
    freshness = Freshness[Object]()
    for minute in range(60):
        deleted(freshness, range(minute * 10, minute * 10 + 10))
        await asyncio.sleep(60)
    assert len(freshness) <= 2 * 10 * (REMEMBERED_S / 60 + 1)


@virtual_time
async def test_a_deletion_is_remembered_for_its_whole_time() -> None:
    freshness = Freshness[Object]()
    deleted(freshness, range(1))
    await asyncio.sleep(REMEMBERED_S - 1)
    deleted(freshness, range(1, 2))
    assert not freshness.is_new(late(0), None)
