"""Events as the server has them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client.client import Client
from sampan.operator.events import CoreEventSink, EventBroadcaster, EventRecorder, EventSink, NewEventSink
from sampan.operator.events.correlator import EventCorrelator
from sampan.operator.events.sink import CORE_EVENTS, NEW_EVENTS
from sampan.resource import CustomResource, Object, ObjectMeta, resource
from tests.operator.cluster import cluster_client
from tests.operator.events.frame import Clock, event
from tests.operator.refs import ref

SINKS = [NewEventSink, CoreEventSink]
MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default", "uid": "u1"}}


@resource(group="net.example.com", version="v1", namespaced=False)
class Zone(CustomResource):
    """A declared kind of no namespace."""


class Bench:
    def __init__(self, client: Client, sink: EventSink) -> None:
        self.client = client
        self.broadcaster = EventBroadcaster(sink)
        self.recorder = EventRecorder(self.broadcaster, "network", "network-1", Clock())

    async def events(self, info: Any = NEW_EVENTS) -> list[Object]:
        await self.broadcaster.drain()
        found = await self.client.resource(info, namespace="default").list()
        return sorted(found, key=lambda each: each["metadata"]["name"])


@asynccontextmanager
async def recording(make: Callable[[Client], EventSink] = NewEventSink) -> AsyncIterator[Bench]:
    async with cluster_client() as client:
        bench = Bench(client, make(client))
        task = asyncio.create_task(bench.broadcaster.run())
        yield bench
        task.cancel()
        await asyncio.wait({task})


async def test_an_event_states_everything_in_the_new_api() -> None:
    async with recording() as bench:
        bench.recorder.normal(MAP, "Made", "it was made", action="Create", related=ref("n"))
        [found] = await bench.events()
    assert found["eventTime"] == "2026-01-02T12:00:00.000000Z"
    assert (found["reportingController"], found["reportingInstance"]) == ("network", "network-1")
    assert (found["type"], found["reason"], found["action"], found["note"]) == (
        "Normal",
        "Made",
        "Create",
        "it was made",
    )
    assert found["regarding"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "a",
        "namespace": "default",
        "uid": "u1",
    }
    assert found["related"]["kind"] == "Network"
    assert found["metadata"]["name"].startswith("a.")
    assert "series" not in found


async def test_repetitions_are_a_series_in_the_new_api() -> None:
    async with recording() as bench:
        for _ in range(3):
            bench.recorder.warning(MAP, "Failed", "no answer")
        [found] = await bench.events()
    assert found["series"] == {"count": 3, "lastObservedTime": "2026-01-02T12:00:00.000000Z"}
    assert (found["type"], found["action"]) == ("Warning", "Failed")


async def test_repetitions_are_a_count_in_the_old_api() -> None:
    async with recording(CoreEventSink) as bench:
        for _ in range(3):
            bench.recorder.normal(MAP, "Made", "it was made")
        [found] = await bench.events(CORE_EVENTS)
    assert (found["count"], found["message"], found["reason"]) == (3, "it was made", "Made")
    assert found["firstTimestamp"] == found["lastTimestamp"] == "2026-01-02T12:00:00Z"
    assert found["source"] == {"component": "network"}
    assert found["involvedObject"]["uid"] == "u1"


@pytest.mark.parametrize("make", SINKS)
async def test_combined_events_are_one_object(make: Callable[[Client], EventSink]) -> None:
    async with recording(make) as bench:
        for number in range(14):
            bench.recorder.normal(MAP, "Tried", f"try {number}")
        found = await bench.events()
    assert len(found) == 10
    assert [each["note"] for each in found if each["note"].startswith("(combined")]


@pytest.mark.parametrize("make", SINKS)
async def test_an_event_that_the_server_has_forgotten_is_made_again(make: Callable[[Client], EventSink]) -> None:
    async with cluster_client() as client:
        sink, correlator = make(client), EventCorrelator()
        events = client.resource(CORE_EVENTS, namespace="default")
        for _ in range(2):
            sighting = correlator.correlate(event(), 0)
            assert sighting is not None
            await sink.post(sighting)
            await events.delete(sighting.series.name)
        sighting = correlator.correlate(event(), 0)
        assert sighting is not None
        await sink.post(sighting)
        assert (await events.get(sighting.series.name))["reason"] == "Made"


@pytest.mark.parametrize("make", SINKS)
async def test_a_create_with_a_lost_response_is_not_counted_twice(make: Callable[[Client], EventSink]) -> None:
    async with cluster_client() as client:
        sighting = EventCorrelator().correlate(event(), 0)
        assert sighting is not None
        await make(client).post(sighting)
        sighting.series.posted = False
        await make(client).post(sighting)
        found = await client.resource(CORE_EVENTS, namespace="default").list()
        assert [(each.get("count", 1), each.get("series")) for each in found] == [(1, None)]


async def test_an_event_on_what_is_of_no_namespace_is_in_default() -> None:
    async with recording() as bench:
        bench.recorder.normal(Zone(metadata=ObjectMeta(name="z", uid="u")), "Made", "it was made")
        [found] = await bench.events()
    assert found["regarding"] == {"apiVersion": "net.example.com/v1", "kind": "Zone", "name": "z", "uid": "u"}


async def test_an_object_without_a_kind_is_refused() -> None:
    recorder = EventRecorder(EventBroadcaster(NewEventSink(None)), "c", "c-1", Clock())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no apiVersion and kind"):
        recorder.normal({"metadata": {"name": "a"}}, "Made", "it was made")
