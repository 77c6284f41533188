"""`TaskScope`: parent of tasks that objects and callbacks start, outside the block of an `asyncio.TaskGroup`.

    async with TaskScope() as tasks:
        first, second = tasks.begin(read()), tasks.begin(stopped.wait())
        await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)

Concurrency: all tasks of a scope end with it. A task that fails affects neither the scope nor its other tasks, unlike
in a `TaskGroup`: the owner of the scope reads the task's result. No other module creates tasks
(`tests/style/test_tasks.py`).
"""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class TaskScope:
    """Owns tasks until they end: `cancel` requests their end, `aclose` also waits for it. It can then be used again."""

    __slots__ = ("_tasks",)

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """Return the number of running tasks."""
        return len(self._tasks)

    def begin(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Start a task."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Cancel all tasks without waiting for their end, for synchronous callers."""
        for task in tuple(self._tasks):
            task.cancel()

    async def aclose(self) -> None:
        """Cancel all tasks, and wait until they have ended. Their errors are dropped."""
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> "TaskScope":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
