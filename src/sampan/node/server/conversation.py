"""`converse`: runs both directions of a streaming connection.

Concurrency: two tasks. One receives the client's data, the other runs the session. If the client disconnects, the
session is cancelled.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Final

LINGER_S: Final = 10.0
"""Time that a client may take to disconnect after the close message.

A connection that is closed while the client still sends is reset. Then the client may lose data that it has not read.
"""


async def converse(
    receive: Coroutine[Any, Any, None],
    work: Coroutine[Any, Any, None],
    goodbye: Callable[[], None],
    *,
    linger_s: float = LINGER_S,
) -> None:
    """Run both tasks until the session ends, or until `receive` returns because the client has disconnected.

    A broken connection is no error.
    """
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
