"""Log lines that become events."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from sampan.operator.controller import ReconcileContext
from sampan.operator.controller.context import CURRENT_RECONCILE
from sampan.operator.events import EventBroadcaster, EventRecorder
from sampan.operator.events.correlator import Sighting
from sampan.operator.events.log_handler import EventLogHandler
from sampan.operator.request import Request
from sampan.testing.time.virtual_time import settle
from tests.operator.events.frame import MAP, Clock


class Sink:
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, str]] = []

    async def post(self, sighting: Sighting) -> None:
        event = sighting.event
        self.events.append((event.type, event.reason, event.note))


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    logger = logging.getLogger("operator-of-a-test")
    logger.setLevel(logging.DEBUG)
    yield logger
    logger.handlers.clear()


async def events_of(log: logging.Logger, name: str) -> list[tuple[str, str, str]]:
    """Return the output of some lines that are logged in a reconcile of an object with that name."""
    sink = Sink()
    broadcaster = EventBroadcaster(sink)
    recorder = EventRecorder(broadcaster, "c", "c-1", Clock())
    log.addHandler(EventLogHandler(recorder, lambda reconcile: MAP if reconcile.request.name == "a" else None))
    task = asyncio.create_task(broadcaster.run())
    log.info("outside a reconcile")
    token = CURRENT_RECONCILE.set(ReconcileContext("c", Request("default", name), "id"))
    log.debug("too fine")
    log.info("made %d", 3, extra={"reason": "Made"})
    await asyncio.to_thread(log.error, "from a thread")
    CURRENT_RECONCILE.reset(token)
    await settle()
    await broadcaster.drain()
    task.cancel()
    await asyncio.wait({task})
    return sink.events


async def test_lines_of_a_reconcile_become_events_of_its_object(log: logging.Logger) -> None:
    assert await events_of(log, "a") == [("Normal", "Made", "made 3"), ("Warning", "Logging", "from a thread")]


async def test_lines_of_objects_that_are_gone_are_no_events(log: logging.Logger) -> None:
    assert await events_of(log, "gone") == []
