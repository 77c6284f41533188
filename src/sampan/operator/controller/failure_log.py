"""`FailureLog`: log lines about failed reconciles of a controller.

The first failure of an object is logged at once. The same failure again is only counted, and logged once a minute with
the count. Another failure of the object is logged at once.

A bug, and a failure that is not retried, are errors. Other failures are normal while the state that the object needs is
being created: they are information, and a warning if they last for `LASTING_S`.
"""

import asyncio
import datetime as dt
import logging
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

from sampan.core.clock import utc_now
from sampan.operator.controller.context import ReconcileContext
from sampan.operator.controller.failing import FailingObject
from sampan.operator.failures.error_text import is_expected, is_race, one_line, traceback_of
from sampan.operator.failures.failed_events import EventFailure

_log = logging.getLogger("sampan.controller")

REPEAT_S: Final = 60.0
"""Minimum time between two lines about the same failure of one object."""
LASTING_S: Final = 10.0
"""Time after which a failure that is retried deserves a warning."""
_OBJECTS_MAX: Final = 4096
"""Limit of objects whose failures are remembered. Beyond it the oldest is dropped, and its next failure is logged at
once.
"""


class _Event(NamedTuple):
    """Key of the failures of an event."""

    source: str
    key: str


@dataclass(slots=True)
class _Failure:
    text: str
    since: float
    logged_at: float
    count: int = 1
    lasting: bool = False
    """True if the log has a line about a lasting failure."""
    tries: int = 1
    """Consecutive failures, also with other texts."""
    last_at: float = 0.0
    retry_s: float | None = None


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
        key = _Event(failure.source, failure.key)
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
            since, tries = (now, 0) if known is None else (known.since, known.tries)
            lasting = now - since >= LASTING_S
            self._remember(key, _Failure(text, since, now, 1, lasting, tries + 1, now, retry_s))
            place = (subject, text, next_step, suffix)
            level = _level(error, retry_s, lasting=now - since >= LASTING_S)
            _log.log(level, "%s: %s; %s%s", *place, exc_info=traceback_of(error), extra=fields)
            return
        known.count += 1
        known.tries += 1
        known.last_at, known.retry_s = now, retry_s
        begins_to_last = not known.lasting and now - known.since >= LASTING_S and is_expected(error)
        if now - known.logged_at < REPEAT_S and not begins_to_last:
            return
        known.logged_at, known.lasting = now, True
        values = (subject, known.count, now - known.since, text, next_step, suffix)
        _log.log(_level(error, retry_s, lasting=True), "%s: failed %d times in %.0f s: %s; %s%s", *values, extra=fields)

    def __len__(self) -> int:
        return len(self._failures)

    def failing(self, controller: str) -> list[FailingObject]:
        """Return the objects whose last attempt has failed, at most 4096. `controller`: name of the controller."""
        # The failures have times of the loop.
        begin = utc_now() - dt.timedelta(seconds=asyncio.get_running_loop().time())

        def instant(at: float) -> dt.datetime:
            return begin + dt.timedelta(seconds=at)

        found = []
        for key, failure in self._failures.items():
            source, name = key if isinstance(key, _Event) else ("", str(key))
            due = None if failure.retry_s is None else instant(failure.last_at + failure.retry_s)
            times = (instant(failure.since), instant(failure.last_at), due)
            found.append(FailingObject(controller, name, source, failure.text, failure.tries, *times))
        return found

    def event_recovered(self, source: str, key: str) -> None:
        """Forget the failures of an object's event."""
        self._failures.pop(_Event(source, key), None)

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
