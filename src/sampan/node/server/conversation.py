"""`converse`: two halves of a streaming connection, and who ends the other.

Concurrency: two tasks: one takes in what the client sends, one does the work. A client that goes ends the work.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Final

LINGER_S: Final = 10.0
"""How long a client may take to go when it has been told good-bye. A connection that is closed under a client that
still sends is reset, and the client may then lose what it has not read yet."""


async def converse(
    receive: Coroutine[Any, Any, None],
    work: Coroutine[Any, Any, None],
    goodbye: Callable[[], None],
    *,
    linger_s: float = LINGER_S,
) -> None:
    """Run both until the work is done, or `receive` returns because the client has gone. A broken connection is no
    error."""
    async with asyncio.TaskGroup() as tasks:
        receiving = tasks.create_task(_quiet(receive), name="receive")
        working = tasks.create_task(_work(work, goodbye, receiving, linger_s), name="work")
        receiving.add_done_callback(lambda _: working.cancel())


async def _quiet(half: Coroutine[Any, Any, None]) -> None:
    with contextlib.suppress(OSError):
        await half


async def _work(
    work: Coroutine[Any, Any, None], goodbye: Callable[[], None], receiving: "asyncio.Task[None]", linger_s: float
) -> None:
    await _quiet(work)
    goodbye()
    await asyncio.wait({receiving}, timeout=linger_s)
    receiving.cancel()
