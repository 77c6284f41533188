"""`FailedEvents`: events whose predicate or map function has raised, to try again with backoff.

Concurrency: `run` is part of its source's task; it tries one event at a time. Handlers of informers only add.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Final, Generic, NamedTuple, TypeVar

from sampan.informer.handler import HandlerResult
from sampan.operator.failures.requested_delay import add_failed
from sampan.operator.queue import WorkQueue

K = TypeVar("K", bound=Hashable)

Event = Callable[[], HandlerResult]
"""Evaluates the predicates and the map function for a change, and queues the requests."""
_log = logging.getLogger("sampan.controller")


class EventFailure(NamedTuple):
    """A predicate or a map function has raised."""

    controller: str
    source: str
    key: str
    """Key of the changed object."""
    error: Exception
    retry_s: float | None
    """Delay of the next attempt."""


def _log_only(failure: EventFailure) -> None:
    _log.error(
        "controller %s: event of %s failed: %s: %s", failure.controller, failure.key, failure.source, failure.error
    )


EVENT_FAILED: ContextVar[Callable[[EventFailure], None]] = ContextVar("sampan_event_failed", default=_log_only)
"""Callback for failed events of the sources that are started in this context. The controller sets it."""


EVENT_RECOVERED: ContextVar[Callable[[str, str], None]] = ContextVar(
    "sampan_event_recovered", default=lambda source, key: None
)
"""Callback when a failed event has succeeded, with source and key. The controller sets it."""


class FailedEvents(Generic[K]):
    """Failed events of one source.

    An object has at most two: the first failed one, which has the oldest state, and the newest. Those between are
    dropped, because a reconcile reads the current state anyway. So the memory is bounded by the number of objects.
    """

    def __init__(self, controller: str, source: str) -> None:
        self._controller, self._source = controller, source
        self._events: dict[K, tuple[Event, ...]] = {}
        self._queue: Final[WorkQueue[K]] = WorkQueue(f"{controller}: {source}")
        self._report = EVENT_FAILED.get()
        self._report_recovery = EVENT_RECOVERED.get()
        self._changed = asyncio.Event()
        """Set when an event is no longer failed."""

    def attempt(self, key: K, event: Event) -> HandlerResult:
        """Process an event now. If it raises, it is tried again later."""
        try:
            waiting = event()
        except Exception as error:
            self._add(key, (*self._events.get(key, ()), event), error)
            return None
        return None if waiting is None else self._finish(key, event, waiting)

    async def below(self, limit: int) -> None:
        """Wait until fewer than `limit` objects have failed events. A limit of 0 is none."""
        while 0 < limit <= len(self._events):
            self._changed.clear()
            await self._changed.wait()

    async def run(self) -> None:
        """Try failed events again, with the backoff of a work queue, until cancelled."""
        while True:
            key = await self._queue.get()
            events = self._events.pop(key, ())
            try:
                while events:
                    waiting = events[0]()
                    if waiting is not None:
                        await waiting
                    events = events[1:]
            except Exception as error:
                self._add(key, (*events, *self._events.get(key, ())), error)
            else:
                self._queue.forget(key)
                self._changed.set()
                self._report_recovery(self._source, str(key))
            finally:
                self._queue.done(key)

    async def _finish(self, key: K, event: Event, waiting: HandlerResult) -> None:
        assert waiting is not None
        try:
            await waiting
        except Exception as error:
            self._add(key, (*self._events.get(key, ()), event), error)

    def _add(self, key: K, events: tuple[Event, ...], error: Exception) -> None:
        self._events[key] = events if len(events) < 2 else (events[0], events[-1])
        retry_s = add_failed(self._queue, key, error)
        self._report(EventFailure(self._controller, self._source, str(key), error, retry_s))
