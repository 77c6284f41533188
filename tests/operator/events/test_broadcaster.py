"""Posting in the background: never in the way, whatever the server does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from sampan.client.errors import TransportError, api_error
from sampan.operator.events import EventBroadcaster
from sampan.operator.events.broadcaster import EVENTS_MAX
from sampan.operator.events.correlator import Sighting
from sampan.testing.time.virtual_time import elapsed, settle, virtual_time
from tests.operator.events.frame import MAP, event


class Sink:
    """Sink that raises the given errors, then accepts."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.notes: list[str] = []
        self.tries = 0

    async def post(self, sighting: Sighting) -> None:
        self.tries += 1
        if self._failures:
            raise self._failures.pop(0)
        self.notes.append(sighting.event.note)


@asynccontextmanager
async def posting(sink: Sink) -> AsyncIterator[EventBroadcaster]:
    broadcaster = EventBroadcaster(sink)
    task = asyncio.create_task(broadcaster.run())
    yield broadcaster
    task.cancel()
    await asyncio.wait({task})


@virtual_time
async def test_events_are_posted_in_order() -> None:
    sink = Sink()
    async with posting(sink) as broadcaster:
        for note in "abc":
            broadcaster.put(event(note))
        await broadcaster.drain()
    assert sink.notes == ["a", "b", "c"]


@pytest.mark.parametrize(
    "failure",
    [
        TransportError("refused", sent=False),
        api_error({"code": 503, "reason": "ServiceUnavailable"}),
        api_error({"code": 429, "reason": "TooManyRequests"}),
    ],
    ids=["connection", "503", "429"],
)
@virtual_time
async def test_a_server_that_cannot_take_it_now_is_called_again(failure: Exception) -> None:
    sink = Sink(failure, failure)
    async with posting(sink) as broadcaster:
        broadcaster.put(event("a"))
        await asyncio.sleep(30)
    assert (sink.notes, sink.tries) == (["a"], 3)


@pytest.mark.parametrize(
    "failure",
    [api_error({"code": 403, "reason": "Forbidden"}), api_error({"code": 422, "reason": "Invalid"}), KeyError("bug")],
    ids=["403", "422", "bug"],
)
@virtual_time
async def test_a_permanently_refused_event_is_not_sent_again(failure: Exception) -> None:
    sink = Sink(failure)
    async with posting(sink) as broadcaster:
        broadcaster.put(event("a"))
        broadcaster.put(event("b"))
        await settle()
    assert (sink.notes, sink.tries) == (["b"], 2)


@pytest.mark.parametrize(("reason", "lines"), [("NamespaceTerminating", 0), ("", 1)], ids=["ends", "stays"])
@virtual_time
async def test_that_a_namespace_which_ends_takes_no_events_is_no_warning(
    reason: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = {"code": 403, "reason": "Forbidden", "details": {"causes": [{"reason": reason}]}}
    with caplog.at_level(logging.WARNING):
        async with posting(Sink(api_error(refusal))) as broadcaster:
            broadcaster.put(event("a"))
            await settle()
    assert len(caplog.records) == lines


@virtual_time
async def test_after_twelve_tries_an_event_is_given_up() -> None:
    sink = Sink(*[TransportError("refused", sent=False)] * 12)
    async with posting(sink) as broadcaster:
        broadcaster.put(event("a"))
        broadcaster.put(event("b"))
        await asyncio.sleep(160)
    assert (sink.notes, sink.tries) == (["b"], 13)


@virtual_time
async def test_too_many_events_are_dropped_with_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    broadcaster = EventBroadcaster(Sink())
    with caplog.at_level(logging.WARNING):
        for number in range(EVENTS_MAX + 5):
            broadcaster.put(event(regarding=replace(MAP, name=str(number))))
    assert broadcaster.dropped == 5
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        f"too many events wait, {count} dropped so far" for count in (1, 2, 4)
    ]


async def test_spam_takes_no_place_in_the_queue() -> None:
    broadcaster = EventBroadcaster(Sink())
    for number in range(EVENTS_MAX + 5):
        broadcaster.put(event(str(number)))
    assert broadcaster.dropped == 0


@virtual_time
async def test_a_drain_does_not_wait_long_for_a_server_that_is_gone() -> None:
    async with posting(Sink(*[TransportError("refused", sent=False)] * 12)) as broadcaster:
        broadcaster.put(event("a"))
        assert await elapsed(broadcaster.drain()) == 5
