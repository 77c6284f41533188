"""`EventLogHandler`: turns log records of a reconcile into Events of its object."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from sampan.operator.controller.context import ReconcileContext, current_reconcile
from sampan.operator.events.recorder import EventRecorder


class EventLogHandler(logging.Handler):
    """Handler for a program's logger. Records outside a reconcile, and of deleted objects, are ignored.

    The reason is the attribute `reason` in `extra`, or `Logging`. Warnings and errors become `Warning` events. Create
    it on the event loop; records from other threads are passed to the loop.
    """

    def __init__(
        self, recorder: EventRecorder, find: Callable[[ReconcileContext], Any], *, level: int = logging.INFO
    ) -> None:
        """`find` returns the object of a reconcile, for example a `Ref` from an informer's store, or None."""
        super().__init__(level)
        self._loop = asyncio.get_running_loop()
        self._recorder = recorder
        self._find = find

    def emit(self, record: logging.LogRecord) -> None:
        """Record a log line of a reconcile as an event of its object. Other lines are ignored."""
        reconcile = current_reconcile()
        if reconcile is None:
            return
        try:
            note, reason = record.getMessage(), getattr(record, "reason", "Logging")
            self._loop.call_soon_threadsafe(self._record, reconcile, record.levelno >= logging.WARNING, reason, note)
        except Exception:
            self.handleError(record)

    def _record(self, reconcile: ReconcileContext, is_warning: bool, reason: str, note: str) -> None:
        obj = self._find(reconcile)
        if obj is not None:
            write = self._recorder.warning if is_warning else self._recorder.normal
            write(obj, reason, note)
