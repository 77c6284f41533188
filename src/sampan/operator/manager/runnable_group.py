"""`RunnableGroup`: runnables that start and stop together.

Concurrency: each member is one task of the manager's task group. An exception of a member does not end the task group;
it is handed to the manager, which stops everything in order.

Source: controller-runtime pkg/manager/runnable_group.go (0.24).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.user_code import timed_steps
from sampan.operator.failures.error_text import one_line, traceback_of
from sampan.operator.manager.runnable import Group, GroupMember

_log = logging.getLogger("sampan.manager")

_CANCEL_S = 5.0
"""Time in which a cancelled member must end before it is cancelled again."""

OnFailure = Callable[[GroupMember, Exception], None]


class ShutdownTimeout(TimeoutError):
    """A part did not end in time after its cancellation."""


class RunnableGroup:
    """Members that start and stop together."""

    def __init__(self, group: Group, on_failure: OnFailure) -> None:
        self.group = group
        self._on_failure = on_failure
        self._members: list[GroupMember] = []
        self._tasks: dict[asyncio.Task[None], GroupMember] = {}
        self._parent: asyncio.TaskGroup | None = None
        self._stopped = False

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members)

    def add(self, member: GroupMember) -> None:
        """Add a member. It starts at once if the group has started. Raises `RuntimeError` if the group has stopped."""
        if self._stopped:
            raise RuntimeError(f"{member.name} cannot be added: the manager is stopping")
        self._members.append(member)
        if self._parent is not None:
            self._start(self._parent, member)

    async def start(self, parent: asyncio.TaskGroup) -> None:
        """Start all members as tasks of `parent`, and wait until each is ready."""
        self._parent = parent
        for member in self._members:
            self._start(parent, member)
        for member in list(self._members):
            if member.ready is not None:
                await member.ready()

    async def stop(self, deadline: float) -> None:
        """Drain all members until `deadline` (the loop's time), then cancel them and wait for their end.

        Raises `ShutdownTimeout` for members that do not end.
        """
        self._stopped = True
        running = {task: member for task, member in self._tasks.items() if not task.done()}
        await self._drain(running, deadline)
        pending = set(running)
        for _ in range(2):
            for task in pending:
                task.cancel()
            if pending:
                _, pending = await asyncio.wait(pending, timeout=_CANCEL_S)
        if pending:
            names = ", ".join(running[task].name for task in pending)
            raise ShutdownTimeout(f"cancelled twice and still running: {names}")

    async def _drain(self, running: dict[asyncio.Task[None], GroupMember], deadline: float) -> None:
        if deadline <= asyncio.get_running_loop().time():
            return
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as drains:
                for task, member in running.items():
                    if member.drain is not None:
                        drains.create_task(_drain(member.name, member.drain, task))
        except TimeoutError:
            names = ", ".join(member.name for task, member in running.items() if not task.done())
            _log.warning("cancelled after the grace period: %s", names)

    def _start(self, parent: asyncio.TaskGroup, member: GroupMember) -> None:
        task = parent.create_task(self._run(member), name=member.name)
        self._tasks[task] = member
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def _run(self, member: GroupMember) -> None:
        try:
            await (timed_steps(member.name, member.run()) if member.observed else member.run())
        except Exception as error:
            _log.error("runnable %s failed: %s", member.name, one_line(error), exc_info=traceback_of(error))
            error.add_note(f"{member.name} of the operator failed")
            self._on_failure(member, error)


async def _drain(name: str, drain: Callable[[], Awaitable[None]], task: asyncio.Task[None]) -> None:
    """Drain a member while it runs."""
    async with TaskScope() as tasks:
        draining = tasks.begin(_awaited(drain))
        await asyncio.wait({draining, task}, return_when=asyncio.FIRST_COMPLETED)
        if draining.done() and draining.exception() is not None:
            _log.error("cannot drain %s", name, exc_info=draining.exception())


async def _awaited(drain: Callable[[], Awaitable[None]]) -> None:
    await drain()
