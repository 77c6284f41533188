"""`translated_watch`: a watch whose events are in our encoding."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Self

from sampan.storage.broadcaster import LocalWatch
from sampan.storage.store import EventBatch, KeyValue, StoreEvent, UnreadableValue
from sampan.storage.translation.forms import is_canonical

Present = Callable[[bytes], bytes]
"""Returns a stored value in our encoding."""


class TranslatedWatch:
    """Iterator of a translated watch."""

    def __init__(self, watch: AsyncIterator[EventBatch], present: Present) -> None:
        self._watch = watch
        self._present = present

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBatch:
        return self._translated(await anext(self._watch))

    def _translated(self, batch: EventBatch) -> EventBatch:
        return batch._replace(events=self._events(batch.events)) if batch.events else batch

    def _events(self, events: Sequence[StoreEvent]) -> Sequence[StoreEvent]:
        return [event if _is_ours(event) else self._event(event) for event in events]

    def _event(self, event: StoreEvent) -> StoreEvent:
        value = None if event.value is None else presented(event.key, event.value, self._present)
        return event._replace(value=value, previous=presented_row(event.previous, self._present))


class TranslatedLocalWatch(TranslatedWatch):
    """`TranslatedWatch` of an engine in this process. See `LocalWatch`."""

    def __init__(self, watch: AsyncIterator[EventBatch], local: LocalWatch, present: Present) -> None:
        super().__init__(watch, present)
        self._local = local

    def poll(self) -> EventBatch | None:
        """Take the pending events with the store's revision."""
        batch = self._local.poll()
        return None if batch is None else self._translated(batch)

    @property
    def has_events(self) -> bool:
        """True if events are pending, not only a newer revision of the store."""
        return self._local.has_events

    def on_events(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time that `has_events` becomes True."""
        self._local.on_events(listener)


@asynccontextmanager
async def translated_watch(
    context: AbstractAsyncContextManager[AsyncIterator[EventBatch]], present: Present
) -> AsyncIterator[AsyncIterator[EventBatch]]:
    """Enter the watch of `context` and yield it with translated events."""
    async with context as watch:
        if isinstance(watch, LocalWatch):
            yield TranslatedLocalWatch(watch, watch, present)
        else:
            yield TranslatedWatch(watch, present)


def presented_row(row: KeyValue | None, present: Present) -> KeyValue | None:
    """Return a row with its value in our encoding."""
    if row is None or is_canonical(row.value):
        return row
    return row._replace(value=presented(row.key, row.value, present))


def presented(key: str, value: bytes, present: Present) -> bytes:
    """Return the value of a key in our encoding. If it cannot be read, the text of the error names the key."""
    found = present(value)
    if isinstance(found, UnreadableValue) and not isinstance(value, UnreadableValue):
        return UnreadableValue(f'the value of "{key}" cannot be read: {found.error}'.encode())
    return found


def _is_ours(event: StoreEvent) -> bool:
    value, previous = event.value, event.previous
    return (value is None or is_canonical(value)) and (previous is None or is_canonical(previous.value))
