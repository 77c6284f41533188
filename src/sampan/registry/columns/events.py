"""The table of events, in both groups."""

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, Cell, at, column, name_of
from sampan.registry.columns.tables import Tables
from sampan.registry.conversions.event import EventConversion
from sampan.registry.definition import Column


def _target(event: Object) -> str:
    involved = event.get("involvedObject", EMPTY)
    kind = involved.get("kind", "").lower()
    return f"{kind}/{involved['name']}" if involved.get("name") else kind


def _source(event: Object) -> str:
    source = event.get("source", EMPTY)
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


def _count(event: Object) -> int:
    series = event.get("series")
    if series is not None:
        return int(series.get("count", 0))
    return event.get("count") or 1


def _event_columns(ages: Ages) -> tuple[Column, ...]:
    def first_seen(event: Object) -> str:
        return ages.since(event.get("firstTimestamp") or event.get("eventTime"))

    def last_seen(event: Object) -> str:
        series = event.get("series")
        if series is not None:
            return ages.since(series.get("lastObservedTime"))
        return ages.since(event.get("lastTimestamp") or event.get("firstTimestamp") or event.get("eventTime"))

    return (
        column("Last Seen", last_seen),
        column("Type", at("type")),
        column("Reason", at("reason")),
        column("Object", _target),
        column("Subobject", at("involvedObject", "fieldPath"), wide=True),
        column("Source", _source, wide=True),
        column("Message", lambda event: event.get("message", "").strip()),
        column("First Seen", first_seen, wide=True),
        column("Count", _count, wide=True),
        column("Name", name_of, wide=True, format="name"),
    )


def _converted(cell: Cell) -> Cell:
    to_hub = EventConversion().to_hub
    return lambda event: cell(to_hub(dict(event)))


def event_tables(ages: Ages) -> Tables:
    """The table of events, in both groups."""
    columns = _event_columns(ages)
    converted = tuple(Column(c.name, c.type, _converted(c.cell), c.format, c.description, c.priority) for c in columns)
    return {("", "events", "v1"): columns, ("events.k8s.io", "events", "v1"): converted}
