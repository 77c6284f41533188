"""Observes the code of users that Sampan calls and whose errors it survives.

Handlers of informers, index functions, webhooks and tasks of objects are logged if they raise, and the program runs
on. A test sets `OBSERVER` to see these errors, and calls that block the event loop.
"""

from collections.abc import Awaitable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class UserCodeObserver(Protocol):
    """Sees the calls of one operator. The text of `place` names the call: `webhook /validate-v1-pod`."""

    def caught(self, place: object, error: BaseException) -> None:
        """Note an error that was caught and logged."""
        ...

    def timed(self, place: object) -> AbstractContextManager[None]:
        """Measure the block, which does not await."""
        ...

    def timed_steps(self, place: object, running: Awaitable[T]) -> Awaitable[T]:
        """Measure each step of an awaitable."""
        ...


OBSERVER: ContextVar[UserCodeObserver | None] = ContextVar("sampan_user_code_observer", default=None)
"""Observer of the code that is called in this context, and in tasks that are started in it."""


def report_caught(place: object, error: BaseException) -> None:
    """Report an error of the user's code that was caught and logged."""
    observer = OBSERVER.get()
    if observer is not None:
        observer.caught(place, error)


def timed(place: object) -> AbstractContextManager[None]:
    """Observe a block that calls the user's code without an await."""
    observer = OBSERVER.get()
    return nullcontext() if observer is None else observer.timed(place)


def timed_steps(place: object, running: Awaitable[T]) -> Awaitable[T]:
    """Observe an awaitable of the user's code."""
    observer = OBSERVER.get()
    return running if observer is None else observer.timed_steps(place, running)


@contextmanager
def reporting(place: object) -> Iterator[None]:
    """Report an error of the block, and raise it again."""
    try:
        yield
    except Exception as error:
        report_caught(place, error)
        raise
