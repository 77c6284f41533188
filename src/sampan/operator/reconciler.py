"""`Reconciler`: makes the actual state what the desired one says; and how one is called, be it asynchronous or not.

A reconciler is level-based: it is told which object to look at, not what happened to it, and must do right however
often it is called. To raise means: try again later, each time a little later; `TerminalError` means: do not.
Source: controller-runtime pkg/reconcile/reconcile.go (0.24).
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Protocol, TypeVar

from sampan.operator.request import Request, Result

T = TypeVar("T")


class Reconciler(Protocol):
    """An object whose method reconciles; `reconcile` may also be a plain method, which then runs in a thread."""

    def reconcile(self, request: Request) -> Awaitable[Result | None] | Result | None:
        """Look at the object and do what is needed."""
        ...


ReconcileFunction = Callable[[Request], Awaitable[Result | None] | Result | None]
"""A function in the place of a reconciler: asynchronous, or plain, which then runs in a thread."""


def reconcile_function(reconciler: Reconciler | ReconcileFunction) -> ReconcileFunction:
    """The function to call. Raises `TypeError` for what is no reconciler."""
    method = getattr(reconciler, "reconcile", reconciler)
    if isinstance(reconciler, type) or not callable(method):
        raise TypeError(f"{reconciler!r} is neither a function nor an object with a method `reconcile`")
    function: ReconcileFunction = method
    return function


def is_asynchronous(function: ReconcileFunction) -> bool:
    """Whether the function is to be called on the loop; all others are called in threads."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def in_thread(executor: Executor, function: Callable[[Request], T], request: Request) -> T:
    """Call a plain function in a thread, with the caller's context variables.

    A thread cannot be cancelled. So that nobody else works on the same object meanwhile, cancellation waits until the
    thread has ended.
    """
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(executor, contextvars.copy_context().run, function, request)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait({future})
        if not future.cancelled():
            future.exception()  # What it raised is not of interest any more.
        raise
