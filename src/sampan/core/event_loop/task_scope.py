"""`TaskScope`: parent of tasks that objects and callbacks start, outside the block of an `asyncio.TaskGroup`.

    async with TaskScope() as tasks:
        first, second = tasks.begin(read()), tasks.begin(stopped.wait())
        await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)

Concurrency: all tasks of a scope end with it. A task that fails affects neither the scope nor its other tasks, unlike
in a `TaskGroup`: the owner of the scope reads the task's result. No other module creates tasks
(`tests/style/test_tasks.py`).
"""

import asyncio
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

_ENDED_MAX = 64
"""Number of ended tasks that a scope may still list."""


class TaskScope:
    """Owns tasks until they end: `cancel` requests their end, `aclose` also waits for it. It can then be used again."""

    __slots__ = ("_sweep_at", "_tasks")

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []
        self._sweep_at = _ENDED_MAX

    def __len__(self) -> int:
        """Return the number of running tasks."""
        return len(self._sweep())

    def begin(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Start a task."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        # A callback of each task that removes it would be 4 % of the time that a small read takes.
        self._tasks.append(task)
        if len(self._tasks) > self._sweep_at:
            self._sweep()
        return task

    def _sweep(self) -> Sequence[asyncio.Task[Any]]:
        """Remove ended tasks, and return those that run."""
        self._tasks = [task for task in self._tasks if not task.done()]
        self._sweep_at = 2 * len(self._tasks) + _ENDED_MAX
        return self._tasks

    def cancel(self) -> None:
        """Cancel all tasks without waiting for their end, for synchronous callers."""
        for task in tuple(self._sweep()):
            task.cancel()

    async def aclose(self) -> None:
        """Cancel all tasks, and wait until they have ended. Their errors are dropped."""
        self.cancel()
        await asyncio.gather(*self._sweep(), return_exceptions=True)

    async def __aenter__(self) -> "TaskScope":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
