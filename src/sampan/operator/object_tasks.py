"""`ObjectTasks`: one task for each object, for as long as the object exists (a daemon).

Use it for work that cannot be polled, such as a connection to a device or a stream. All other work is simpler in a
reconciler.

Concurrency: `run` owns one task for each object and the informer handler. There are as many tasks as objects.

Source: kopf docs/daemons.rst (1.44) for the idea.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sampan.core.user_code import report_caught, timed_steps
from sampan.informer.ref import Deletion, Ref, last_known
from sampan.operator.failures.error_text import one_line, retry_level, traceback_of
from sampan.operator.predicates import Predicate
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request
from sampan.operator.source import HandlerHost

T = TypeVar("T")

_log = logging.getLogger("sampan.object_tasks")

ObjectFunction = Callable[[Request], Awaitable[None]]
"""Works for one object until it is cancelled. When it returns, its work for the object is done."""


class ObjectTasks(Generic[T]):
    """Runs a function for each object of a kind. A `Runnable`: add it to a manager.

    The function starts when the object appears. It is cancelled when the object is deleted or its deletion starts. When
    a change passes the predicate's `update`, or the function raises, it is restarted; after an error with delays from 1
    s, doubled up to 5 minutes. For one object name it never runs twice at the same time.
    """

    def __init__(
        self, informer: HandlerHost[T], function: ObjectFunction, *, restart_on: Predicate[T] | None = None
    ) -> None:
        """`restart_on` is, for example, `GenerationChanged()`. Without it, changes do not restart the function, which
        reads the cache.
        """
        self._informer = informer
        self._function = function
        self._restart_on = restart_on
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    def __str__(self) -> str:
        return f"object tasks: {self._informer.object_type.info.gvr.group_resource}"

    async def run(self) -> None:
        """Run until cancelled, which cancels all tasks."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            registration = self._informer.add_handler(self)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                registration.remove()
                self._group = None

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> None:
        """Start the task."""
        self._begin(obj)

    def on_update(self, old: Ref[T], new: Ref[T]) -> None:
        """Restart or end the task if the change requires it."""
        if old.uid != new.uid or self._restarts(old, new) or new.deletion_timestamp:
            self._end(new.key)
            self._begin(new)

    def on_delete(self, obj: Deletion[T]) -> None:
        """End the task."""
        self._end(last_known(obj).key)

    def _restarts(self, old: Ref[T], new: Ref[T]) -> bool:
        try:
            return self._restart_on is not None and self._restart_on.update(old, new)
        except Exception as error:
            # The change may matter: a task that has restarted reads the current state.
            _log.exception("%s: %s: the predicate failed; restarting", self, new.key)
            report_caught(f"{self}: predicate for {new.key}", error)
            return True

    def _begin(self, obj: Ref[T]) -> None:
        if self._group is None or obj.deletion_timestamp:
            return
        work = self._work(Request.of_key(obj.key), self._tasks.get(obj.key))
        task = self._tasks[obj.key] = self._group.create_task(work, name=f"{self}: {obj.key}")
        task.add_done_callback(lambda done: self._forget(obj.key, done))

    def _end(self, key: str) -> None:
        if key in self._tasks:
            self._tasks[key].cancel()

    def _forget(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _work(self, request: Request, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        limiter = ItemExponentialFailureRateLimiter(1.0, 300.0)
        while True:
            try:
                await timed_steps(f"{self}: {request}", self._function(request))
                return
            except Exception as error:
                report_caught(f"{self}: {request}", error)
                delay_s = limiter.when(request)
                text = "%s: %s: %s; restarting in %g s"
                _log.log(
                    retry_level(error), text, self, request, one_line(error), delay_s, exc_info=traceback_of(error)
                )
            await asyncio.sleep(delay_s)
