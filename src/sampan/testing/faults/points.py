"""Fault points in an operator other than requests: the awaits of its reconciles, and its calls of external systems.

    class Cloud:
        @external("cloud.create_network")
        async def create_network(self, name: str) -> str: ...

Outside a test, `external` only calls the function. In the block of `fault_points`, new operators report each call and
each suspension of a reconcile to a `Points`: to a `FaultInjector` in a test by hand, or to a trial of the explorer.
"""

import functools
import os
import sysconfig
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol, TypeVar

import sampan
from sampan.operator.controller.awaited import frames_of
from sampan.operator.controller.context import RECONCILE_WRAPPER, current_reconcile

P = ParamSpec("P")
T = TypeVar("T")

AWAIT: Final = "await"
CALL: Final = "call"
EXTERNAL: Final = "external"
"""Resource of calls in a `Which`."""
_ROOT: Final = Path(sampan.__file__).parent
_INTERNAL: Final = (
    sysconfig.get_paths()["stdlib"] + os.sep,
    *(str(_ROOT / name) + os.sep for name in ("client", "core", "informer", "operator", "testing")),
)


class ExternalError(Exception):
    """An external system has failed, or its response is lost."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """One await of a reconcile that suspends its task."""

    controller: str
    namespace: str
    name: str
    place: tuple[str, ...]
    """Lines of the operator that wait, the outermost first: `network.py:57`."""


class Points(Protocol):
    """Receiver of the fault points."""

    def suspended(self, at: Suspension) -> None:
        """Handle the suspension of a reconcile, which is the current task.

        Cancelling that task ends the reconcile here.
        """

    async def call(self, name: str, function: Callable[[], Awaitable[Any]], failure: Callable[[str], Exception]) -> Any:
        """Call an external system and return its result. `failure` makes the error of a fault from a message."""


_POINTS: ContextVar[Points | None] = ContextVar("sampan_fault_points", default=None)


@contextmanager
def fault_points(points: Points) -> Iterator[None]:
    """Report the fault points of operators that start in this block."""
    token, wrapper = _POINTS.set(points), RECONCILE_WRAPPER.set(lambda inner: _Watched(inner, points))
    try:
        yield
    finally:
        RECONCILE_WRAPPER.reset(wrapper)
        _POINTS.reset(token)


def external(
    name: str, *, failure: Callable[[str], Exception] = ExternalError
) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Turn an asynchronous function into a fault point. `failure` makes the error that the caller expects."""

    def decorate(function: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(function)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            points = _POINTS.get()
            if points is None:
                return await function(*args, **kwargs)
            found: T = await points.call(name, lambda: function(*args, **kwargs), failure)
            return found

        return call

    return decorate


class _Watched:
    """Awaitable around a reconcile that reports each suspension."""

    def __init__(self, inner: Awaitable[object], points: Points) -> None:
        self._inner, self._points = inner, points

    def __await__(self) -> Generator[Any, Any, object]:
        running = self._inner.__await__()
        error: BaseException | None = None
        while True:
            try:
                waiting = next(running) if error is None else running.throw(error)
            except StopIteration as stop:
                return stop.value
            reconcile = current_reconcile()
            if reconcile is not None:
                request = reconcile.request
                place = tuple(_places(self._inner))
                self._points.suspended(Suspension(reconcile.controller, request.namespace, request.name, place))
            error = None
            try:
                yield waiting
            except BaseException as thrown:  # it belongs to the reconcile
                error = thrown


def _places(awaitable: object) -> Iterator[str]:
    """Yield the lines of the operator in a chain of coroutines."""
    for frame in frames_of(awaitable):
        file = frame.f_code.co_filename
        if not file.startswith(_INTERNAL):
            yield f"{os.path.basename(file)}:{frame.f_lineno}"
