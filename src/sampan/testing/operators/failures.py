"""`Failures`: errors of an operator that fail its test, though the operator retries.

An operator that raises in every reconcile does nothing wrong in the cluster: it does nothing at all. So a test that
only looks at the cluster would pass. The option `allow_errors` excuses errors.

| error | fails the test |
|---|---|
| `RetryLater`, `TerminalError` | never: the operator reports them |
| `NotFound` for an object that was deleted during the test | never: its next reconcile does not matter |
| a conflict, `AlreadyExists`, `NotFound`, a namespace that ends | if the object's last reconcile ended with it |
| an error of a request, in a test with faults (`cluster.interceptors`, `cluster.faults`) | as above |
| any other exception of a reconciler, predicate, map function, handler, webhook or task; a wrong result | always |
| a call of one of these that blocks the event loop for 0.1 s | always |
"""

import traceback
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sampan.client.errors import NotFound
from sampan.operator.controller.context import FinishedReconcile, current_reconcile
from sampan.operator.failures.error_text import is_expected, is_race, one_line
from sampan.operator.failures.failed_events import EventFailure
from sampan.operator.request import Request, RetryLater, TerminalError
from sampan.testing.operators.stopwatch import STOPWATCH

T = TypeVar("T")

_TRACEBACK_LINES_MAX: Final = 16
_SHOWN_MAX: Final = 5

Allowed = bool | type[BaseException] | tuple[type[BaseException], ...]
"""Errors that do not fail a test: all, or those of these classes."""


class OperatorFailed(AssertionError):
    """The operator raised, returned a wrong result or blocked the event loop. The first line names the cause."""


@dataclass(slots=True)
class _Failure:
    place: str
    """`reconcile of default/ada by boat`."""
    text: str
    trace: str
    lasting: bool
    """True if a later success does not excuse it."""
    count: int = 1


class Failures:
    """Failures of one operator."""

    def __init__(self) -> None:
        self._allowed: Allowed = False
        self._faults_injected: Callable[[], bool] = lambda: False
        self._deleted: Callable[[str, str, str], bool] = lambda resource, namespace, name: False
        self._found: dict[tuple[str, str], _Failure] = {}

    def excuse(
        self,
        allowed: Allowed,
        *,
        faults_injected: Callable[[], bool],
        deleted: Callable[[str, str, str], bool],
    ) -> None:
        """Allow errors. `faults_injected` returns True in a test that makes requests fail.

        `deleted` returns True if an object was deleted, by the name of its resource, its namespace and its name.
        """
        self._allowed, self._faults_injected, self._deleted = allowed, faults_injected, deleted

    def reconciled(self, finished: FinishedReconcile) -> None:
        """Record the end of a reconcile."""
        context = finished.context
        place = f"reconcile of {context.request} by {context.controller}"
        if finished.error is not None:
            if not self._is_gone(context.request, finished.error):
                self._add(place, finished.error)
            return
        for key in [key for key, each in self._found.items() if each.place == place and not each.lasting]:
            del self._found[key]

    def event_failed(self, failure: EventFailure) -> None:
        """Record a predicate or map function that raised."""
        self._add(f"event of {failure.key} for {failure.controller} ({failure.source})", failure.error)

    def caught(self, place: object, error: BaseException) -> None:
        """Record an error of other code of the operator; see `UserCodeObserver`."""
        if isinstance(error, Exception):
            self._add(str(place), error)

    def timed(self, place: object) -> AbstractContextManager[None]:
        """Record the block if it blocks the event loop; see `UserCodeObserver`."""
        return _timed(lambda seconds: self._blocked(place, seconds))

    def timed_steps(self, place: object, running: Awaitable[T]) -> Awaitable[T]:
        """Record each step that blocks the event loop; see `UserCodeObserver`."""
        return Timed(running, lambda seconds: self._blocked(place, seconds))

    def timed_reconcile(self, running: Awaitable[T]) -> Awaitable[T]:
        """Record each step of the current reconcile that blocks the event loop."""
        context = current_reconcile()
        place = "reconcile" if context is None else f"reconcile of {context.request} by {context.controller}"
        return self.timed_steps(place, running)

    def _blocked(self, place: object, seconds: float) -> None:
        if self._allowed is True:
            return
        text = f"blocked the event loop for {seconds:.2g} s: use asynchronous calls, or a thread"
        self._found.setdefault((str(place), "blocked"), _Failure(str(place), text, "", lasting=True))

    def check(self, name: str) -> None:
        """Raise `OperatorFailed` with the failures so far, and forget them. `name` is that of the operator."""
        found, self._found = list(self._found.values()), {}
        if not found:
            return
        lines = [f"{each.place} {each.text}" + (f" ({each.count} times)" if each.count > 1 else "") for each in found]
        hidden = [f"… and {len(found) - _SHOWN_MAX} more"] if len(found) > _SHOWN_MAX else []
        trace = next((each.trace for each in found if each.trace), "")
        raise OperatorFailed("\n  ".join([f"{name}: {lines[0]}", *lines[1:_SHOWN_MAX], *hidden, *trace.splitlines()]))

    def _is_gone(self, request: Request, error: Exception) -> bool:
        """Return True if the error is the absence of the object of the request, which was deleted."""
        details = (error.details or {}) if isinstance(error, NotFound) else {}
        return details.get("name") == request.name and self._deleted(details.get("kind", ""), *request)

    def _add(self, place: str, error: Exception) -> None:
        if self._allowed is True or isinstance(error, (RetryLater, TerminalError)):
            return
        if self._allowed is not False and isinstance(error, self._allowed):
            return
        lasting = not (is_race(error) or (is_expected(error) and self._faults_injected()))
        text = f"raised {one_line(error)}"
        known = self._found.get((place, text))
        if known is not None:
            known.count += 1
            return
        self._found[place, text] = _Failure(place, text, "" if is_expected(error) else _trace(error), lasting)


def _trace(error: Exception) -> str:
    lines = "".join(traceback.format_exception(error)).splitlines()
    return "\n".join(lines[-_TRACEBACK_LINES_MAX:])


@contextmanager
def _timed(report: Callable[[float], None]) -> Iterator[None]:
    """Report a block that keeps the event loop."""
    began = STOPWATCH.begin()
    try:
        yield
    finally:
        if seconds := STOPWATCH.end(began):
            report(seconds)


class Timed(Awaitable[T]):
    """Awaitable around another one that reports each step that blocks the event loop."""

    def __init__(self, inner: Awaitable[T], report: Callable[[float], None]) -> None:
        self._inner, self._report = inner, report

    def __await__(self) -> Generator[Any, Any, T]:
        running = self._inner.__await__()
        step: Callable[[], Any] = lambda: next(running)  # noqa: E731  (replaced below)
        while True:
            began = STOPWATCH.begin()
            try:
                waiting = step()
            except StopIteration as stop:
                result: T = stop.value
                return result
            finally:
                if seconds := STOPWATCH.end(began):
                    self._report(seconds)
            try:
                value = yield waiting
            except BaseException as thrown:  # it belongs to the reconcile
                step = _throwing(running, thrown)
            else:
                step = _sending(running, value)


def _throwing(running: Generator[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: running.throw(error)


def _sending(running: Generator[Any, Any, Any], value: Any) -> Callable[[], Any]:
    return lambda: next(running) if value is None else running.send(value)
