"""Which reconcile the running code belongs to, and how its log lines come to say so."""

import logging
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from itertools import count
from typing import Final, NamedTuple

from sampan.operator.request import Request

_COUNTED_DIGITS: Final = 12


class ReconcileContext(NamedTuple):
    """The reconcile under way."""

    controller: str
    request: Request
    reconcile_id: str
    """Another for each try."""
    priority: int = 0
    """The priority that the request had in the queue."""

    def fields(self) -> dict[str, str]:
        """What is added to log records (their `extra`)."""
        return {"controller": self.controller, "request": self.request.key, "reconcile_id": self.reconcile_id}


def reconcile_ids() -> Iterator[str]:
    """Ids without end, in the form of a UUID: its last part counts on from what was drawn."""
    drawn = uuid.uuid4()
    begin = str(drawn)[:-_COUNTED_DIGITS]
    return (f"{begin}{number % 16**_COUNTED_DIGITS:0{_COUNTED_DIGITS}x}" for number in count(drawn.node))


CURRENT_RECONCILE: ContextVar[ReconcileContext | None] = ContextVar("sampan_reconcile", default=None)


def current_reconcile() -> ReconcileContext | None:
    """The reconcile that the calling code belongs to, also in the threads of plain reconcilers; else None."""
    return CURRENT_RECONCILE.get()


class ReconcileLogFilter(logging.Filter):
    """Gives every log record `controller`, `request` and `reconcile_id` (empty outside of a reconcile).

    Put it on a handler; then its format may name them: `%(levelname)s %(request)s %(reconcile_id)s %(message)s`.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets everything pass."""
        reconcile = CURRENT_RECONCILE.get() or ReconcileContext("", Request("", ""), "")
        for name, value in reconcile.fields().items():
            record.__dict__.setdefault(name, value)
        return True
