"""`Reconciler`: makes the actual state match the desired state. The functions of this module call reconcilers.

A reconciler is level-based: it gets the name of an object, not the change, and must be correct however often it is
called. An exception means a retry with a growing delay; `TerminalError` means no retry.

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
    """Object with a method that reconciles. `reconcile` may be a plain method, which then runs in a thread."""

    def reconcile(self, request: Request) -> Awaitable[Result | None] | Result | None:
        """Compare the object with the actual state and make the necessary changes."""
        ...


ReconcileFunction = Callable[[Request], Awaitable[Result | None] | Result | None]
"""Function instead of a reconciler: asynchronous, or plain, which then runs in a thread."""


def reconcile_function(reconciler: Reconciler | ReconcileFunction) -> ReconcileFunction:
    """Return the function to call. Raises `TypeError` for an invalid reconciler."""
    method = getattr(reconciler, "reconcile", reconciler)
    if isinstance(reconciler, type) or not callable(method):
        raise TypeError(f"{reconciler!r} is neither a function nor an object with a method `reconcile`")
    function: ReconcileFunction = method
    return function


def is_asynchronous(function: ReconcileFunction) -> bool:
    """Return True if the function must be called on the loop. All other functions are called in threads."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def in_thread(executor: Executor, function: Callable[[Request], T], request: Request) -> T:
    """Call a plain function in a thread, with the caller's context variables.

    A thread cannot be cancelled. So cancellation waits until the thread has ended, to prevent a second reconcile of the
    same object.
    """
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(executor, contextvars.copy_context().run, function, request)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait({future})
        if not future.cancelled():
            future.exception()  # Mark the error as retrieved; it is irrelevant now.
        raise
