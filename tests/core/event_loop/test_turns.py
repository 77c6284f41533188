"""Turns of the event loop."""

import asyncio

from sampan.core.event_loop.turns import PieceTurns
from tests.loop_turns import counting_turns


async def test_pieces_of_many_tasks_begin_in_order_one_in_each_turn() -> None:
    turns, begun = PieceTurns(), list[int]()

    async def work(number: int) -> None:
        for _ in range(3):
            await turns.begin()
            begun.append(number)
            count()

    with counting_turns() as (pieces, count):
        await asyncio.gather(*map(work, range(4)))
    assert max(pieces.values()) == 1
    assert begun == [0, *[0, 1, 2, 3] * 2, 1, 2, 3]  # in order of the calls


async def test_a_lone_piece_begins_at_once() -> None:
    turns, others = PieceTurns(), list[str]()
    asyncio.get_running_loop().call_soon(others.append, "other work")
    await turns.begin()
    assert not others


async def test_a_task_that_was_cancelled_takes_no_turn() -> None:
    turns = PieceTurns()
    await turns.begin()
    first, second = asyncio.ensure_future(turns.begin()), asyncio.ensure_future(turns.begin())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait_for(second, 5)
