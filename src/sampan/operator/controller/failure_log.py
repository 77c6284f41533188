"""`FailureLog`: log lines about failed reconciles of a controller.

The first failure of an object is logged at once. The same failure again is only counted, and logged once a minute with
the count. Another failure of the object is logged at once.

A bug, and a failure that is not retried, are errors. Other failures are normal while the state that the object needs is
being created: they are information, and a warning if they last for `LASTING_S`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from sampan.operator.controller.context import ReconcileContext
from sampan.operator.error_text import is_expected, is_race, one_line, traceback_of
from sampan.operator.failed_events import EventFailure

_log = logging.getLogger("sampan.controller")

REPEAT_S: Final = 60.0
"""Minimum time between two lines about the same failure of one object."""
LASTING_S: Final = 10.0
"""Time after which a failure that is retried deserves a warning."""
_OBJECTS_MAX: Final = 4096
"""Limit of objects whose failures are remembered. Beyond it the oldest is dropped, and its next failure is logged at
once.
"""


@dataclass(slots=True)
class _Failure:
    text: str
    since: float
    logged_at: float
    count: int = 1
    lasting: bool = False
    """True if the log has a line about a lasting failure."""


class FailureLog:
    """Failures of one controller's objects since their last success."""

    def __init__(self) -> None:
        self._failures: OrderedDict[Hashable, _Failure] = OrderedDict()

    def failed(self, context: ReconcileContext, error: Exception, retry_s: float | None) -> None:
        """Log a failure, or count it. `retry_s`: delay of the next attempt; None if there is none."""
        subject = f"controller {context.controller}: {context.request}"
        self._failed(context.request, subject, error, retry_s, f" (reconcile {context.reconcile_id})", context.fields())

    def event_failed(self, failure: EventFailure) -> None:
        """Log a failure of a predicate or map function, or count it."""
        subject = f"controller {failure.controller}: cannot map the event of {failure.key} from {failure.source}"
        key = (failure.source, failure.key)
        self._failed(key, subject, failure.error, failure.retry_s, "", {"controller": failure.controller})

    def _failed(
        self,
        key: Hashable,
        subject: str,
        error: Exception,
        retry_s: float | None,
        suffix: str,
        fields: dict[str, str],
    ) -> None:
        now = asyncio.get_running_loop().time()
        text = one_line(error)
        next_step = "not retrying" if retry_s is None else f"retrying in {retry_s:.3g} s"
        known = self._failures.get(key)
        if known is None or known.text != text:
            since = now if known is None else known.since
            self._remember(key, _Failure(text, since, now, lasting=now - since >= LASTING_S))
            place = (subject, text, next_step, suffix)
            level = _level(error, retry_s, lasting=now - since >= LASTING_S)
            _log.log(level, "%s: %s; %s%s", *place, exc_info=traceback_of(error), extra=fields)
            return
        known.count += 1
        begins_to_last = not known.lasting and now - known.since >= LASTING_S and is_expected(error)
        if now - known.logged_at < REPEAT_S and not begins_to_last:
            return
        known.logged_at, known.lasting = now, True
        values = (subject, known.count, now - known.since, text, next_step, suffix)
        _log.log(_level(error, retry_s, lasting=True), "%s: failed %d times in %.0f s: %s; %s%s", *values, extra=fields)

    def succeeded(self, context: ReconcileContext) -> None:
        """Forget the failures of an object."""
        known = self._failures.pop(context.request, None) if self._failures else None
        if known is not None and known.count > 1:
            text = "controller %s: %s: succeeded after %d failures (reconcile %s)"
            values = (context.controller, context.request, known.count, context.reconcile_id)
            _log.info(text, *values, extra=context.fields())

    def _remember(self, key: Hashable, failure: _Failure) -> None:
        self._failures[key] = failure
        self._failures.move_to_end(key)
        if len(self._failures) > _OBJECTS_MAX:
            self._failures.popitem(last=False)


def _level(error: Exception, retry_s: float | None, *, lasting: bool) -> int:
    if retry_s is None or not is_expected(error):
        return logging.INFO if is_race(error) else logging.ERROR
    return logging.WARNING if lasting else logging.INFO
