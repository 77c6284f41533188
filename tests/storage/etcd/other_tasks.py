"""`run_other_tasks`: lets other tasks run, without waiting for time."""

import asyncio


async def run_other_tasks() -> None:
    """Yield to the event loop ten times, so that all other tasks make progress."""
    for _ in range(10):
        await asyncio.sleep(0)
