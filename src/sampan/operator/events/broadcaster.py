"""`EventBroadcaster`: posts events in the background.

Concurrency: `run` is one task. It takes events from a queue of at most `EVENTS_MAX`, in order, one request at a time.
When the queue is full, the newest event is dropped and logged. One request at a time is intended: when thousands of
Pods are scheduled at once, their events follow later and do not delay the Pods. An unreachable server delays the queue
by at most two minutes; then the event is dropped.

Source: client-go tools/record/event.go, tools/events/event_broadcaster.go (1.36).
"""

import asyncio
import contextlib
import logging
import random
from typing import Final

from sampan.client.errors import ApiError, ClientError, ServerError, TooManyRequests
from sampan.core.user_code import report_caught
from sampan.operator.events.correlator import EventCorrelator, Sighting
from sampan.operator.events.event import Event
from sampan.operator.events.sink import EventSink

_log = logging.getLogger("sampan.events")

EVENTS_MAX: Final = 10_000
"""Limit of queued events of about 2 kB each; client-go's limit is 1,000."""
_TRIES_MAX: Final = 12
_RETRY_S: Final = 10.0
_DRAIN_S: Final = 5.0
_NAMESPACE_ENDS: Final = "NamespaceTerminating"
"""Cause of a refusal in a namespace that is being deleted; its events are dropped. Source: client-go
tools/record/event.go (1.36).
"""


class EventDropped(RuntimeError):
    """An event is lost."""


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
        """Number of events that were dropped because the queue was full."""
        return self._dropped

    def put(self, event: Event) -> None:
        """Queue an event. Never waits, never raises. Call it on the running loop.

        Spam is dropped before it reaches the queue.
        """
        try:
            sighting = self._correlator.correlate(event, asyncio.get_running_loop().time())
        except Exception:
            _log.exception("cannot process event %s", event)
            return
        if sighting is None:
            return
        try:
            self._sightings.put_nowait(sighting)
        except asyncio.QueueFull:
            self._dropped += 1
            if self._dropped & (self._dropped - 1) == 0:  # Log the first dropped event, and at each doubling.
                regarding = event.regarding
                text = "too many events wait, %d dropped so far; the last: %s of %s %s/%s"
                _log.warning(text, self._dropped, event.reason, regarding.kind, regarding.namespace, regarding.name)
            report_caught("event recorder", EventDropped(f"too many events wait: {event.reason} is lost"))

    async def drain(self) -> None:
        """Wait until all events are posted, but at most `_DRAIN_S`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                await self._sightings.join()

    async def run(self) -> None:
        """Post events until cancelled."""
        while True:
            sighting = await self._sightings.get()
            try:
                await self._post(sighting)
            except Exception:
                _log.exception("cannot write event %s", sighting.series.name)
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
                    if level == logging.WARNING:
                        report_caught("event recorder", EventDropped(f"the server refused an event: {error}"))
                    return
                _log.info("cannot write event %s, retrying: %s", sighting.series.name, error)
            await asyncio.sleep(_RETRY_S * random.uniform(0.75, 1.25))
        _log.warning("dropped event %s after %d attempts", sighting.series.name, _TRIES_MAX)
