"""`FailingObject`: an object whose last reconcile has failed, as status and for /debug/failing."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sampan.core.time import format_time
from sampan.informer.store.index import Unindexed
from sampan.operator.failures.error_text import one_line
from sampan.wire import json


@dataclass(frozen=True, slots=True)
class FailingObject:
    """An object that a controller cannot reconcile, or whose event it cannot map."""

    controller: str
    key: str
    """`namespace/name`, or `name`."""
    source: str
    """Source of the event whose predicate or map function raises, or the index whose function raises.

    Empty if the reconcile fails.
    """
    error: str
    """Type and text of the last error, in one line."""
    tries: int
    """Consecutive failures."""
    since: dt.datetime
    """Time of the first of them."""
    last: dt.datetime
    next_due: dt.datetime | None
    """Time of the next try, unless a change comes first. None after `TerminalError`, and for an index: only a change or
    a lookup leads to one.
    """


def unindexed(found: Unindexed[Any]) -> FailingObject:
    """Return an object that an index lacks. It belongs to no controller."""
    times = (found.since, found.last, None)
    return FailingObject("", found.ref.key, f"index {found.index}", one_line(found.error), found.tries, *times)


def as_json(found: Iterable[FailingObject]) -> bytes:
    """Return the objects as JSON: `{"failing": […]}`."""
    items = [
        {
            "controller": each.controller,
            "object": each.key,
            **({"source": each.source} if each.source else {}),
            "error": each.error,
            "tries": each.tries,
            "since": format_time(each.since),
            "last": format_time(each.last),
            "nextDue": None if each.next_due is None else format_time(each.next_due),
        }
        for each in found
    ]
    return json.encode({"failing": items})
