"""Sinks: write events as objects of the API, in events.k8s.io/v1 or the older v1."""

from typing import Any, Final, Protocol

from sampan.client.client import Client
from sampan.client.errors import AlreadyExists, NotFound
from sampan.client.patch import MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import format_micro_time, format_time
from sampan.operator.events.correlator import Sighting
from sampan.resource import Object, ResourceInfo

NEW_EVENTS: Final = ResourceInfo(GroupVersionResource("events.k8s.io", "v1", "events"), "Event", namespaced=True)
CORE_EVENTS: Final = ResourceInfo(GroupVersionResource("", "v1", "events"), "Event", namespaced=True)


class EventSink(Protocol):
    """Destination of events."""

    async def post(self, sighting: Sighting) -> None:
        """Write an event and its count to the server. Raises `ApiError`, `TransportError`."""
        ...


class NewEventSink:
    """events.k8s.io/v1: repetitions are a `series`. Notes are immutable, so a combined event keeps its first note."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def post(self, sighting: Sighting) -> None:
        """Create the event, or patch its series."""
        await _post(self._client, NEW_EVENTS, sighting, _new_event(sighting), {"series": _series(sighting)})


class CoreEventSink:
    """v1: repetitions are a `count`, which older clients show."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def post(self, sighting: Sighting) -> None:
        """Create the event, or patch its count."""
        body = _core_event(sighting)
        change = {name: body[name] for name in ("count", "lastTimestamp", "message")}
        await _post(self._client, CORE_EVENTS, sighting, body, change)


async def _post(client: Client, info: ResourceInfo, sighting: Sighting, body: Object, change: dict[str, Any]) -> None:
    events = client.resource(info, namespace=sighting.event.namespace)
    if sighting.series.posted:
        try:
            await events.patch(sighting.series.name, MergePatch(change))
            return
        except NotFound:
            pass  # Events expire after an hour, but this series continues.
    try:
        await events.create(body)
    except AlreadyExists:
        # An earlier attempt succeeded, but its response was lost.
        if sighting.series.count > 1:
            await events.patch(sighting.series.name, MergePatch(change))
    sighting.series.posted = True


def _new_event(sighting: Sighting) -> Object:
    event = sighting.event
    body: Object = {
        "apiVersion": NEW_EVENTS.api_version,
        "kind": "Event",
        "metadata": _metadata(sighting),
        "eventTime": format_micro_time(event.time),
        "reportingController": event.controller,
        "reportingInstance": event.instance,
        "action": event.action,
        "reason": event.reason,
        "regarding": event.regarding.to_dict(),
        "note": event.note,
        "type": event.type,
    }
    if event.related is not None:
        body["related"] = event.related.to_dict()
    if sighting.series.count > 1:
        body["series"] = _series(sighting)
    return body


def _metadata(sighting: Sighting) -> Object:
    found: Object = {"name": sighting.series.name, "namespace": sighting.event.namespace}
    if sighting.event.annotations:
        found["annotations"] = dict(sighting.event.annotations)
    return found


def _series(sighting: Sighting) -> dict[str, Any]:
    return {"count": sighting.series.count, "lastObservedTime": format_micro_time(sighting.series.last)}


def _core_event(sighting: Sighting) -> Object:
    event = sighting.event
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": _metadata(sighting),
        "involvedObject": event.regarding.to_dict(),
        "reason": event.reason,
        "message": event.note,
        "source": {"component": event.controller, **({"host": event.host} if event.host else {})},
        "firstTimestamp": format_time(event.time),
        "lastTimestamp": format_time(sighting.series.last),
        "count": sighting.series.count,
        "type": event.type,
        "reportingComponent": event.controller,
        "reportingInstance": event.instance,
    }
