"""Events of a watch in a version that a webhook converts to.

If the webhook fails, no event is lost: events are held back and the conversion is retried with backoff until the watch
ends. Only a watch that has sent nothing yet ends with the error, so that a list by watch does not wait forever.

Concurrency: `present` runs in the task of its watch, which takes no further events meanwhile. They wait in the
watcher's buffer. A watcher that falls behind is ended like any slow watcher.

Source: apiserver pkg/storage/cacher/cacher.go (startCaching, waitUntilFreshAndBlock) (1.36). In Kubernetes, the cache
of the version blocks until it can list again.
"""

import asyncio
from collections.abc import Iterator, Sequence

import msgspec

from sampan.core.errors import StatusError
from sampan.registry.definition import WebhookConversion
from sampan.registry.endpoint import Endpoint
from sampan.server.verbs.selection import SelectionPredicate
from sampan.storage.encoding import respliced_record
from sampan.storage.records import CacheEvent, Delivery, EventType, Record

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 10.0
INITIAL_PATIENCE_S = 3.0


class TimeIsUp(Exception):
    """Error if the watch ended before its events could be converted."""


class ConvertedEvents:
    """Events of one watch. `began` is the revision of the initial state; 0: there is none."""

    def __init__(
        self, webhook: WebhookConversion, endpoint: Endpoint, began: int, selection: SelectionPredicate
    ) -> None:
        self._webhook = webhook
        self._selection = selection
        self._endpoint = endpoint
        self._api_version = endpoint.api_version
        self._began = began

    async def present(self, events: Sequence[Delivery], end: float) -> list[Delivery]:
        """Return the events in the endpoint's version. `end` is the end of the watch in loop time.

        Raises `TimeIsUp` at that time, and `StatusError` if the initial state cannot be converted in 3 s.
        """
        now = asyncio.get_running_loop().time
        initial = bool(events) and events[0][1].revision <= self._began
        impatient = now() + INITIAL_PATIENCE_S
        for pause_s in _pauses():
            try:
                return await self._converted(events)
            except StatusError:
                if initial and now() + pause_s > impatient:
                    raise
            if now() + pause_s > end:
                await asyncio.sleep(max(0.0, end - now()))
                raise TimeIsUp
            await asyncio.sleep(pause_s)
        raise AssertionError("pauses never end")

    async def _converted(self, events: Sequence[Delivery]) -> list[Delivery]:
        if self._selection.unconverted is not None:
            return await self._selected(events)
        records = await self._webhook.shared_records([event.record for _, event in events], self._api_version)
        return [
            (kind, msgspec.structs.replace(event, record=record))
            for (kind, event), record in zip(events, records, strict=True)
        ]

    async def _selected(self, events: Sequence[Delivery]) -> list[Delivery]:
        """Convert both states of each change, and decide by them whether the object is selected now and was before.

        The watcher passes on every change of an object whose fields in the version are unknown.
        """
        states = [state for kind, event in events for state in _states(kind, event)]
        records = iter(await self._webhook.shared_records(states, self._api_version))
        found: list[Delivery] = []
        for kind, event in events:
            record, *previous = [next(records) for _ in _states(kind, event)]
            delivery = self._decided(kind, event, record, previous[0] if previous else None)
            if delivery is not None:
                found.append(delivery)
        return found

    def _decided(self, kind: EventType, event: CacheEvent, record: Record, previous: Record | None) -> Delivery | None:
        now = self._selection.confirms(self._endpoint, record)
        if kind != "MODIFIED":
            return (kind, msgspec.structs.replace(event, record=record, frames={})) if now else None
        before = previous is not None and self._selection.confirms(self._endpoint, previous)
        if now:
            return "MODIFIED" if before else "ADDED", msgspec.structs.replace(event, record=record, frames={})
        if not before or previous is None:
            return None
        last = respliced_record(previous, event.revision)
        return "DELETED", msgspec.structs.replace(event, type="DELETED", record=last, frames={})


def _states(kind: EventType, event: CacheEvent) -> list[Record]:
    """Return the new state and, for a modification, the previous state."""
    return [event.record, event.previous] if kind == "MODIFIED" and event.previous is not None else [event.record]


def _pauses() -> Iterator[float]:
    pause_s = RETRY_FIRST_S
    while True:
        yield pause_s
        pause_s = min(RETRY_MAX_S, 2 * pause_s)
