"""Turns of the event loop."""

import asyncio

from sampan.core.event_loop.turns import TurnQueue
from tests.loop_turn import counting_per_turn


async def test_pieces_of_many_tasks_begin_in_order_one_in_each_turn() -> None:
    queue, begun = TurnQueue(), list[int]()

    async def work(number: int) -> None:
        for _ in range(3):
            await queue.begin()
            begun.append(number)
            count()

    with counting_per_turn() as (pieces, count):
        await asyncio.gather(*map(work, range(4)))
    assert max(pieces.values()) == 1
    assert begun == [0, *[0, 1, 2, 3] * 2, 1, 2, 3]  # in order of the calls


async def test_a_lone_piece_begins_at_once() -> None:
    queue, ran = TurnQueue(), list[str]()
    asyncio.get_running_loop().call_soon(ran.append, "other work")
    await queue.begin()
    assert not ran


async def test_a_task_that_was_cancelled_takes_no_turn() -> None:
    queue = TurnQueue()
    await queue.begin()
    first, second = asyncio.ensure_future(queue.begin()), asyncio.ensure_future(queue.begin())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait_for(second, 5)
