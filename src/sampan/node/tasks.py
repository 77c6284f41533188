"""`Tasks`: what the agent does beside its reconciles: probes, hooks, watches of what Pods refer to.

Concurrency: `run` owns all tasks. A task that fails is told in the log and ends alone; each is cancelled by whoever
holds it, or with the agent. There are as many as Pods ask for: a few for each container at most.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from sampan.operator.error_text import one_line, traceback_of

_log = logging.getLogger("sampan.node")


class Tasks:
    """Runs coroutines. A `Runnable`: a manager runs it; what is begun before waits until it does."""

    needs_leader_election = False

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._running = asyncio.Event()

    def __str__(self) -> str:
        return "tasks of the node agent"

    async def run(self) -> None:
        """Until cancelled, and all tasks with it."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._running.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._group = None
                self._running.clear()

    async def running(self) -> None:
        """Wait until tasks can be begun."""
        await self._running.wait()

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Begin something. Raises `RuntimeError` while nobody runs the tasks."""
        if self._group is None:
            work.close()
            raise RuntimeError(f"{self} do not run: {name} cannot be begun")
        return self._group.create_task(_guarded(work, name), name=name)


async def _guarded(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception as error:
        _log.error("%s failed: %s", name, one_line(error), exc_info=traceback_of(error))
