"""`counting_per_turn`: counts what happens in each turn of the event loop."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting_per_turn() -> Iterator[tuple[Counter[int], Callable[[], None]]]:
    """Return the counts by turn of the loop, and a function that counts one more in the current turn."""
    loop, counts, turn = asyncio.get_running_loop(), Counter[int](), 0
    timer = loop.call_soon(str)

    def tick() -> None:
        nonlocal turn, timer
        turn += 1
        timer = loop.call_soon(tick)

    def count() -> None:
        counts[turn] += 1

    timer = loop.call_soon(tick)
    try:
        yield counts, count
    finally:
        timer.cancel()
