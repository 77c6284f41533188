"""What is promised to others is kept until they know better, or until it is over."""

import asyncio

import pytest

from sampan.storage.etcd.told import PROMISE_S, QUIET_S, TRUST_S, Told
from tests.storage.conftest import Clock
from tests.storage.etcd.test_peers import Server, answered, asking, listening

NOW_S = 5.0


class Holder:
    """Who has promises."""

    def __init__(self) -> None:
        self.taken_back: list[int] = []

    def take_back(self, number: int) -> None:
        self.taken_back.append(number)


async def free(told: Told, revision: int) -> "asyncio.Task[None]":
    task = asyncio.create_task(told.free(revision))
    await asyncio.sleep(0)
    return task


async def test_nothing_waits_where_nothing_is_promised() -> None:
    told = Told()
    assert (await free(told, 5)).done()


async def test_what_was_told_before_the_promise_is_told_at_once() -> None:
    told, holder = Told(Clock()), Holder()
    assert told.promise(holder, 1, 5)
    assert (await free(told, 5)).done()
    assert holder.taken_back == []


async def test_what_is_newer_waits_until_all_who_have_a_promise_know() -> None:
    told, one, other = Told(Clock()), Holder(), Holder()
    told.promise(one, 1, 5)
    told.promise(other, 7, 5)
    task = await free(told, 6)
    assert (one.taken_back, other.taken_back) == ([1], [7])
    told.knows(one, 1)
    await asyncio.sleep(0)
    assert not task.done()
    told.knows(other, 7)
    await asyncio.wait_for(task, NOW_S)


async def test_what_is_newer_waits_no_longer_than_the_promise_holds() -> None:
    told = Told()
    told.promise(Holder(), 1, 5)
    now = asyncio.get_running_loop().time
    began = now()
    await told.free(6)
    assert now() - began > PROMISE_S * 0.9


async def test_a_promise_that_is_over_is_not_waited_for() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    told.promise(holder, 1, 5)
    clock.now += PROMISE_S
    await asyncio.wait_for(told.free(6), NOW_S)


async def test_that_an_old_promise_is_known_to_be_over_says_nothing_of_a_new_one() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    told.promise(holder, 1, 5)
    told.promise(holder, 2, 5)
    told.knows(holder, 1)
    task = await free(told, 6)
    assert not task.done()
    told.knows(holder, 2)
    await asyncio.wait_for(task, NOW_S)


async def test_nothing_is_promised_while_a_promise_is_taken_back_nor_soon_after() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    told.promise(holder, 1, 5)
    task = await free(told, 6)
    assert not told.promise(holder, 2, 5)
    told.knows(holder, 1)
    await asyncio.wait_for(task, NOW_S)
    assert not told.promise(holder, 3, 6)
    clock.now += QUIET_S
    assert told.promise(holder, 4, 6)


async def test_what_is_known_here_and_told_to_nobody_yet_is_promised_to_nobody_else_for_it() -> None:
    told, one, other = Told(Clock()), Holder(), Holder()
    told.promise(one, 1, 5)
    told.note(7)
    assert told.promise(other, 1, told.newest)
    task = await free(told, 6)
    assert one.taken_back == [1]
    assert not task.done()
    told.knows(one, 1)
    told.knows(other, 1)
    await asyncio.wait_for(task, NOW_S)


async def test_an_answer_of_etcd_waits_though_something_newer_is_known_here() -> None:
    told, holder = Told(Clock()), Holder()
    told.promise(holder, 1, 5)
    told.note(7)
    task = asyncio.create_task(told.tell(6))
    await asyncio.sleep(0)
    assert not task.done()
    told.knows(holder, 1)
    await asyncio.wait_for(task, NOW_S)


async def test_what_was_told_once_is_told_again_at_once_and_is_nothing_new() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    await told.tell(6)
    clock.now += QUIET_S
    await told.tell(6)
    assert told.promise(holder, 1, told.newest)
    await told.tell(6)
    assert holder.taken_back == []


async def test_nothing_is_promised_that_somebody_is_about_to_tell() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    await told.free(6)
    clock.now += QUIET_S
    assert not told.promise(holder, 1, 5)
    assert told.promise(holder, 2, 6)


async def test_one_who_waits_to_tell_and_gives_up_leaves_the_promise_as_it_is() -> None:
    clock, holder = Clock(), Holder()
    told = Told(clock)
    told.promise(holder, 1, 5)
    (await free(told, 6)).cancel()
    await asyncio.sleep(0)
    task = await free(told, 6)
    assert not task.done()
    told.knows(holder, 1)
    await asyncio.wait_for(task, NOW_S)


@pytest.mark.parametrize("order", [(3, 2), (2, 3)])
async def test_what_etcd_answered_counts_for_what_is_told_later(order: tuple[int, int]) -> None:
    told = Told()
    for revision in order:
        await told.tell(revision)
    assert told.newest == 3


# --- over a connection


async def test_a_promise_is_trusted_from_when_it_was_asked_for_and_for_less_long_than_it_is_kept() -> None:
    clock, server = Clock(), Server()
    server.told = server.listener.told = Told(clock)
    server.revision = 9
    async with listening(server), asking(server.place.row(), clock=clock) as asker:
        await answered(asker)
        assert asker.promised() == 9
        clock.now += TRUST_S * 0.99
        assert asker.promised() == 9
        clock.now += TRUST_S * 0.02
        assert asker.promised() is None
        assert server.told._promises
        task = await free(server.told, 10)
        assert not task.done()
        await asyncio.wait_for(task, NOW_S)


async def test_a_promise_is_renewed_while_it_is_used() -> None:
    clock, server = Clock(), Server()
    server.told = server.listener.told = Told(clock)
    async with listening(server), asking(server.place.row(), clock=clock) as asker:
        await answered(asker)
        for _ in range(10):
            clock.now += TRUST_S * 0.7
            assert asker.promised() == 0
            async with asyncio.timeout(NOW_S):
                while not asker._ready():  # noqa: ASYNC110
                    await asyncio.sleep(0.001)


async def test_who_has_a_promise_is_told_that_it_is_taken_back_and_says_so() -> None:
    clock, server = Clock(), Server()
    server.told = server.listener.told = Told(clock)
    async with listening(server), asking(server.place.row(), clock=clock) as asker:
        await answered(asker)
        assert asker.promised() == 0
        await asyncio.wait_for(server.told.free(1), NOW_S)
        assert asker.promised() is None
        server.revision = 1
        assert await asker.ask() == 1
        assert asker.promised() is None
        clock.now += QUIET_S
        assert await asker.ask() == 1
        assert asker.promised() == 1


async def test_the_promise_of_one_is_not_enough_where_there_are_two() -> None:
    clock, servers = Clock(), [Server(), Server()]
    for server in servers:
        server.told = server.listener.told = Told(clock)
    async with listening(*servers), asking(*(server.place.row() for server in servers), clock=clock) as asker:
        await answered(asker)
        assert asker.promised() == 0
        await asyncio.wait_for(servers[1].told.free(1), NOW_S)
        assert asker.promised() is None
