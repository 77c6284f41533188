"""`Running`: an operator that runs in a test."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sampan.client import Client
from sampan.core.clock import unix_time
from sampan.core.event_loop.background import IS_BACKGROUND
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.user_code import OBSERVER
from sampan.operator.controller.context import EVENT_OBSERVER, RECONCILE_OBSERVER, RECONCILE_WRAPPER, FinishedReconcile
from sampan.operator.manager import Manager, ManagerOptions
from sampan.testing.operators.failures import Failures


@dataclass(frozen=True, slots=True)
class ReconcileRecord:
    """A reconcile that has ended."""

    at_s: float
    """Seconds since the epoch."""
    actor: str
    controller: str
    namespace: str
    name: str
    result: str
    """`done`, `again in 5 s`, or the error and the time of the next attempt."""
    error: str = ""
    """Type and message of the error; empty for a success."""


class Running:
    """An operator. `stop` ends it gracefully, `crash` at once, `restart` starts it again after either."""

    def __init__(
        self,
        name: str,
        begin: Callable[[], Awaitable[Any]],
        *,
        repeatable: bool = True,
        stop: Callable[[], None] | None = None,
    ) -> None:
        """`stop` begins the graceful end of an operator without a manager."""
        self.name = name
        self.repeatable = repeatable
        """False if it cannot be restarted, because the test made its manager."""
        self.reconciles: list[ReconcileRecord] = []
        """Reconciles of its controllers, oldest first."""
        self.manager: Manager | None = None
        """The manager, if the operator has one."""
        self.failures = Failures()
        """Errors of its reconciles and events that fail the test."""
        self.excused: tuple[type[BaseException], ...] = ()
        """Errors with which it may end without a failure of the test."""
        self._begin = begin
        self._request_stop = stop
        self._ran = False
        self._error: BaseException | None = None
        self._tasks = TaskScope()
        self._task: asyncio.Task[Any] | None = None
        self.restart()

    @property
    def is_running(self) -> bool:
        """True until the operator has ended."""
        return self._task is not None and not self._task.done()

    def restart(self) -> None:
        """Start the operator, with an empty cache. Raises `RuntimeError` while it runs."""
        if self.is_running:
            raise RuntimeError(f"{self.name} runs already: stop it first")
        if self._ran and not self.repeatable:
            raise RuntimeError(
                f"{self.name} cannot run again: pass a function that makes its controllers, not a Manager"
            )
        self._ran = True
        self._task = self._tasks.begin(self._run(), self.name)

    async def _run(self) -> None:
        RECONCILE_OBSERVER.set(self._note)
        EVENT_OBSERVER.set(self.failures.event_failed)
        OBSERVER.set(self.failures)
        # A fault in the background may have started it.
        IS_BACKGROUND.set(False)
        outer = RECONCILE_WRAPPER.get()

        def wrapped(running: Awaitable[object]) -> Awaitable[object]:
            timed = self.failures.timed_reconcile(running)
            return timed if outer is None else outer(timed)

        RECONCILE_WRAPPER.set(wrapped)
        await self._begin()

    def _note(self, finished: FinishedReconcile) -> None:
        request = finished.context.request
        place = (finished.context.controller, request.namespace, request.name)
        error = "" if finished.error is None else f"{type(finished.error).__name__}: {finished.error}"
        self.failures.reconciled(finished)
        self.reconciles.append(ReconcileRecord(unix_time(), self.name, *place, _result(finished, error), error))

    async def crash(self) -> None:
        """End the operator as `kill -9` does: nothing more is written."""
        await self._end()

    async def stop(self) -> None:
        """End the operator as SIGTERM does. Its leases are given back."""
        request_stop = self._request_stop if self.manager is None else self.manager.stop
        if request_stop is not None and self.is_running:
            request_stop()
            assert self._task is not None
            await asyncio.wait({self._task})
        await self._end()

    async def ended(self) -> BaseException | None:
        """Wait until the operator has ended by itself. Return its error, which is then not an error of the test."""
        task = self._task
        if task is None:
            return None
        await asyncio.wait({task})
        self._task = None
        return None if task.cancelled() else task.exception()

    def check(self) -> None:
        """Raise the error with which the operator ended."""
        if self._error is None and self._task is not None and self._task.done() and not self._task.cancelled():
            self._error = self._task.exception()
        if self._error is not None and not isinstance(self._error, self.excused):
            error, self._error = self._error, None
            self._task = None
            error.add_note(f"{self.name} ended with this error")
            raise error

    async def _end(self) -> None:
        task = self._task
        if task is None:
            return
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is not None:
            self._error = task.exception()
        self._task = None


def _result(finished: FinishedReconcile, error: str) -> str:
    again = "" if finished.next_s is None else f", again in {finished.next_s:.3g} s"
    return f"failed{again}: {error}" if error else f"done{again}"


def run_operator(operator: Any, client: Client, name: str, options: ManagerOptions | None = None) -> Running:
    """Start an operator. Raises `TypeError` for something that cannot run."""
    if isinstance(operator, Manager):
        running = Running(name, operator.run, repeatable=False)
        running.manager = operator
        return running
    if inspect.iscoroutinefunction(operator) and not inspect.signature(operator).parameters:
        return Running(name, operator)
    if callable(operator) and len(inspect.signature(operator).parameters) == 1:
        return _managed(operator, client, name, options or ManagerOptions(graceful_shutdown_timeout_s=1.0))
    raise TypeError(
        f"cannot run {operator!r}: pass a Manager, a function that adds controllers to the manager it gets, "
        "an asynchronous function without arguments, or kopf_operator(...)"
    )


def _managed(set_up: Callable[[Manager], Any], client: Client, name: str, options: ManagerOptions) -> Running:
    """Run the controllers that a function adds to a new manager. Each restart makes another manager."""
    places: list[Running] = []

    async def begin() -> None:
        manager = Manager(client, options)
        made = set_up(manager)
        if inspect.isawaitable(made):
            await made
        for running in places:
            running.manager = manager
        await manager.run()

    running = Running(name, begin)
    places.append(running)
    return running
