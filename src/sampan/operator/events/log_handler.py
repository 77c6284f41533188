"""`EventLogHandler`: log lines of a reconcile become Events of its object, for those who read `kubectl describe`."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from sampan.operator.controller.context import ReconcileContext, current_reconcile
from sampan.operator.events.recorder import EventRecorder


class EventLogHandler(logging.Handler):
    """A handler for a program's own logger. Lines outside of a reconcile, and of objects that are gone, are no events.

    The reason is the logger's attribute `reason` in `extra`, else `Logging`; warnings and worse are `Warning` events.
    To be made on the event loop; lines from the threads of plain reconcilers are handed to it.
    """

    def __init__(
        self, recorder: EventRecorder, find: Callable[[ReconcileContext], Any], *, level: int = logging.INFO
    ) -> None:
        """`find` gives the object that a reconcile works on (a `Ref` from an informer's store, say), or None."""
        super().__init__(level)
        self._loop = asyncio.get_running_loop()
        self._recorder = recorder
        self._find = find

    def emit(self, record: logging.LogRecord) -> None:
        """Record an event."""
        reconcile = current_reconcile()
        if reconcile is None:
            return
        try:
            note, reason = record.getMessage(), getattr(record, "reason", "Logging")
            self._loop.call_soon_threadsafe(self._tell, reconcile, record.levelno >= logging.WARNING, reason, note)
        except Exception:
            self.handleError(record)

    def _tell(self, reconcile: ReconcileContext, is_warning: bool, reason: str, note: str) -> None:
        obj = self._find(reconcile)
        if obj is not None:
            tell = self._recorder.warning if is_warning else self._recorder.normal
            tell(obj, reason, note)
