"""`Tasks`: background tasks of the agent: probes, hooks, watches of referenced objects.

Concurrency: `run` owns all tasks. A task that fails is logged and does not affect other tasks. The caller of `begin`
may cancel its task. All tasks end with the agent. Each container has only a few tasks.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from sampan.operator.failures.error_text import one_line, traceback_of

_log = logging.getLogger("sampan.node")


class Tasks:
    """Runs coroutines. A `Runnable` of the manager."""

    needs_leader_election = False

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._running = asyncio.Event()

    def __str__(self) -> str:
        return "tasks of the node agent"

    async def run(self) -> None:
        """Run until cancelled. Cancellation ends all tasks."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._running.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._group = None
                self._running.clear()

    async def running(self) -> None:
        """Wait until tasks can be started."""
        await self._running.wait()

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task. Raises `RuntimeError` if `run` does not run."""
        if self._group is None:
            work.close()
            raise RuntimeError(f"cannot start {name}: the tasks of the node agent do not run")
        return self._group.create_task(_guarded(work, name), name=name)


async def _guarded(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception as error:
        _log.error("task of the node agent failed: %s: %s", name, one_line(error), exc_info=traceback_of(error))
