"""`turns`: the other tasks get on, without waiting for time."""

import asyncio


async def turns() -> None:
    """Let everybody do what can be done without waiting for time."""
    for _ in range(10):
        await asyncio.sleep(0)
