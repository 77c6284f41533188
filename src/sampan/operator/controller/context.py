"""Identifies the reconcile that the running code belongs to, for log records."""

import logging
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from itertools import count
from typing import Final, NamedTuple

from sampan.operator.failures.failed_events import EventFailure
from sampan.operator.history.object_write import ReconcileWrites
from sampan.operator.request import Request

_COUNTED_DIGITS: Final = 12


class ReconcileContext(NamedTuple):
    """Identity of a running reconcile."""

    controller: str
    request: Request
    reconcile_id: str
    """Unique for each attempt."""
    priority: int = 0
    """Priority of the request in the queue."""
    writes: ReconcileWrites | None = None
    """ReconcileWrites so far."""

    def fields(self) -> dict[str, str]:
        """Return the fields for log records (their `extra`)."""
        return {"controller": self.controller, "request": self.request.key, "reconcile_id": self.reconcile_id}


def reconcile_ids() -> Iterator[str]:
    """Yield an endless sequence of ids in the form of a UUID: random digits, and a counter in the last digits."""
    drawn = uuid.uuid4()
    begin = str(drawn)[:-_COUNTED_DIGITS]
    return (f"{begin}{number % 16**_COUNTED_DIGITS:0{_COUNTED_DIGITS}x}" for number in count(drawn.node))


class FinishedReconcile(NamedTuple):
    """A reconcile that has ended."""

    context: ReconcileContext
    error: Exception | None
    next_s: float | None
    """Seconds until the next attempt that the reconciler has requested; None: it has requested none."""


RECONCILE_OBSERVER: ContextVar[Callable[[FinishedReconcile], None] | None] = ContextVar(
    "sampan_reconcile_observer", default=None
)
"""Callback after each reconcile of the controllers that were started in this context. Tests use it to record them."""

EVENT_OBSERVER: ContextVar[Callable[[EventFailure], None] | None] = ContextVar("sampan_event_observer", default=None)
"""Callback after each failure of a predicate or map function of the controllers that were started in this context."""

RECONCILE_WRAPPER: ContextVar[Callable[[Awaitable[object]], Awaitable[object]] | None] = ContextVar(
    "sampan_reconcile_wrapper", default=None
)
"""Wrapper of each asynchronous reconcile of the controllers that were started in this context.

Tests use it to inject faults.
"""

CURRENT_RECONCILE: ContextVar[ReconcileContext | None] = ContextVar("sampan_reconcile", default=None)


def current_reconcile() -> ReconcileContext | None:
    """Return the reconcile of the calling code, also in the threads of plain reconcilers; None outside a reconcile."""
    return CURRENT_RECONCILE.get()


def note_write(method: str, path: str, response: bytes) -> None:
    """Add a write to the running reconcile."""
    reconcile = CURRENT_RECONCILE.get()
    if reconcile is not None and reconcile.writes is not None:
        reconcile.writes.add(method, path, response)


class ReconcileLogFilter(logging.Filter):
    """Adds `controller`, `request` and `reconcile_id` to every log record; they are empty outside a reconcile.

    Add it to a handler. Then the format may use the fields: `%(levelname)s %(request)s %(reconcile_id)s %(message)s`.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields and return True."""
        reconcile = CURRENT_RECONCILE.get() or ReconcileContext("", Request("", ""), "")
        for name, value in reconcile.fields().items():
            record.__dict__.setdefault(name, value)
        return True
