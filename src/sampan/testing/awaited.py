"""`awaited`: methods of a cluster whose calls are recorded until they are awaited, so that a test cannot forget it."""

import functools
import sys
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")
M = TypeVar("M", bound=Callable[..., Coroutine[Any, Any, Any]])


class NotAwaited(AssertionError):
    """A test has called a method without `await`, so the method did nothing."""


class Calls:
    """Calls of the methods of one object that have not begun."""

    def __init__(self) -> None:
        self._waiting: dict[int, str] = {}
        self._called = 0

    @property
    def not_awaited(self) -> list[str]:
        """Calls that have not begun, with their places."""
        return list(self._waiting.values())

    def record(self, call: str) -> Callable[[], object]:
        """Add a call. The returned function removes it."""
        self._called += 1
        self._waiting[self._called] = call
        return functools.partial(self._waiting.pop, self._called, None)


class Recording(Protocol):
    """Object with such methods."""

    _calls: Calls


class _Call(Coroutine[Any, Any, T]):
    """Coroutine of one call."""

    __slots__ = ("_begun", "_work")

    def __init__(self, work: Coroutine[Any, Any, T], begun: Callable[[], object]) -> None:
        self._work, self._begun = work, begun

    def __await__(self) -> Generator[Any, Any, T]:
        self._begun()
        return self._work.__await__()

    def send(self, value: Any) -> Any:
        """Continue the coroutine with a value."""
        self._begun()
        return self._work.send(value)

    def throw(self, kind: Any, value: Any = None, trace: TracebackType | None = None) -> Any:
        """Raise an exception in the coroutine."""
        self._begun()
        return self._work.throw(value if isinstance(value, BaseException) else kind)

    def close(self) -> None:
        """End the coroutine."""
        self._begun()
        self._work.close()


def awaited(method: M) -> M:
    """Record the calls of an asynchronous method in the object's `_calls` until they begin."""

    @functools.wraps(method)
    def call(self: Recording, /, *args: Any, **kwargs: Any) -> _Call[Any]:
        frame = sys._getframe(1)
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return _Call(method(self, *args, **kwargs), self._calls.record(f"cluster.{method.__name__}(...) in {place}"))

    return cast("M", call)
