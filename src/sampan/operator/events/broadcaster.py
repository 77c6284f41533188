"""`EventBroadcaster`: posts events in the background.

Concurrency: `run` is one task; it takes events from a queue of at most `EVENTS_MAX`, in order, one request at a time.
When the queue is full the newest event is dropped, with a line in the log. One at a time on purpose: when thousands of
Pods are scheduled at once, their events come after what they tell of, and take nothing from it. A server that cannot be
reached holds up everything for two minutes at most; then the event is given up.
Source: client-go tools/record/event.go, tools/events/event_broadcaster.go (1.36).
"""

import asyncio
import contextlib
import logging
import random
from typing import Final

from sampan.client.errors import ApiError, ClientError, ServerError, TooManyRequests
from sampan.operator.events.correlator import EventCorrelator, Sighting
from sampan.operator.events.event import Event
from sampan.operator.events.sink import EventSink

_log = logging.getLogger("sampan.events")

EVENTS_MAX: Final = 10_000
"""About 2 kB each; client-go's queue takes 1,000."""
_TRIES_MAX: Final = 12
_RETRY_S: Final = 10.0
_DRAIN_S: Final = 5.0
_NAMESPACE_ENDS: Final = "NamespaceTerminating"
"""Nothing that is told of is there much longer. Source: client-go tools/record/event.go (1.36)."""


class EventBroadcaster:
    """Takes events from recorders and posts them to a sink."""

    needs_leader_election = False

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._correlator = EventCorrelator()
        self._sightings: asyncio.Queue[Sighting] = asyncio.Queue(EVENTS_MAX)
        self._dropped = 0

    def __str__(self) -> str:
        return "event broadcaster"

    @property
    def dropped(self) -> int:
        """How many events were dropped because too many were waiting."""
        return self._dropped

    def put(self, event: Event) -> None:
        """Post an event, some time. Never waits, never raises. To be called on the running loop.

        What is spam is dropped here and takes no place in the queue.
        """
        try:
            sighting = self._correlator.correlate(event, asyncio.get_running_loop().time())
        except Exception:
            _log.exception("the event %s could not be understood", event)
            return
        if sighting is None:
            return
        try:
            self._sightings.put_nowait(sighting)
        except asyncio.QueueFull:
            self._dropped += 1
            if self._dropped & (self._dropped - 1) == 0:  # The first, and at each doubling.
                regarding = event.regarding
                text = "too many events wait, %d dropped so far; the last: %s of %s %s/%s"
                _log.warning(text, self._dropped, event.reason, regarding.kind, regarding.namespace, regarding.name)

    async def drain(self) -> None:
        """Wait until all events have been posted, for `_DRAIN_S` at most: nobody waits long for events."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                await self._sightings.join()

    async def run(self) -> None:
        """Post until cancelled."""
        while True:
            sighting = await self._sightings.get()
            try:
                await self._post(sighting)
            except Exception:
                _log.exception("the event %s could not be written", sighting.series.name)
            finally:
                self._sightings.task_done()

    async def _post(self, sighting: Sighting) -> None:
        for _ in range(_TRIES_MAX):
            try:
                await self._sink.post(sighting)
                return
            except ClientError as error:
                if isinstance(error, ApiError) and not isinstance(error, ServerError | TooManyRequests):
                    level = logging.DEBUG if error.has_cause(_NAMESPACE_ENDS) else logging.WARNING
                    _log.log(level, "the server refused the event %s: %s", sighting.series.name, error)
                    return
                _log.info("the event %s could not be written, trying again: %s", sighting.series.name, error)
            await asyncio.sleep(_RETRY_S * random.uniform(0.75, 1.25))
        _log.warning("the event %s was given up after %d tries", sighting.series.name, _TRIES_MAX)
