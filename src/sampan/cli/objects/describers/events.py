"""Table of the events of an object."""

import datetime as dt
from collections.abc import Iterator, Sequence

from sampan.cli.objects.describers.describer import at
from sampan.cli.objects.describers.values import since
from sampan.resource import Object


def event_lines(events: Sequence[Object], now: dt.datetime) -> Iterator[str]:
    """Yield the lines of the table, the oldest event first."""
    if not events:
        yield "Events:\t<none>"
        return
    yield "Events:"
    yield "  Type\tReason\tAge\tFrom\tMessage"
    yield "  ----\t------\t----\t----\t-------"
    for event in sorted(events, key=_last_seen):
        source = at(event, "source.component") or event.get("reportingComponent") or ""
        cells = (event.get("type", ""), event.get("reason", ""), _age(event, now), source, _message(event))
        yield "  " + "\t".join(cells)


def _message(event: Object) -> str:
    message = " ".join((event.get("message") or "").split("\n")).strip().replace("\t", " ")
    part = at(event, "involvedObject.fieldPath")
    return f"{part}: {message}" if part else message


def _last_seen(event: Object) -> str:
    times = (at(event, "series.lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((time for time in times if time), at(event, "metadata.creationTimestamp") or "")


def _age(event: Object, now: dt.datetime) -> str:
    first = event.get("eventTime") or event.get("firstTimestamp") or at(event, "metadata.creationTimestamp")
    count = at(event, "series.count") or event.get("count") or 1
    if count <= 1:
        return since(first or _last_seen(event), now)
    return f"{since(_last_seen(event), now)} (x{count} over {since(first, now)})"
