"""Past writes of a key and deletions of a range, found in the events of a history."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sampan.storage.store import Compacted, KeyValue, RowWrite, Store, StoreEvent


def writes_in(
    newest_first: Iterable[StoreEvent], current: KeyValue | None, *, before: int, limit: int
) -> Sequence[RowWrite]:
    """Return the writes of one key, as `Store.writes_of` does. `newest_first`: all kept events of the key."""
    return list(
        islice((each for each in _writes(newest_first, current) if not before or each.revision < before), limit)
    )


def deletions_in(newest_first: Iterable[StoreEvent], *, before: int, limit: int) -> Sequence[RowWrite]:
    """Return the deletions among events, as `Store.deletions` does."""
    found = (
        RowWrite(event.revision, event.previous, deleted=True)
        for event in newest_first
        if event.value is None and event.previous is not None and (not before or event.revision < before)
    )
    return list(islice(found, limit))


async def events_of(store: Store, start: str, end: str) -> list[StoreEvent]:
    """Return all kept events of a range, oldest first, for an engine that can only be read forwards."""
    until, after = await store.revision(), store.compacted
    while True:
        try:
            return await _events_after(store, start, end, after, until)
        except Compacted as error:
            after = max(error.compact_revision, after + 1)


async def _events_after(store: Store, start: str, end: str, after: int, until: int) -> list[StoreEvent]:
    events: list[StoreEvent] = []
    if after >= until:
        return events
    async with store.watch(start, end, after) as watch:
        async for batch in watch:
            events += batch.events
            if batch.revision >= until:
                break
    return events


def _writes(newest_first: Iterable[StoreEvent], current: KeyValue | None) -> Iterator[RowWrite]:
    """Yield the states of one row: the current one, or the last one that was deleted."""
    row, deleted_at = current, 0
    if row is not None:
        yield RowWrite(row.mod_revision, row, deleted=False)
    for event in newest_first:
        if current is not None and event.revision > current.mod_revision:
            continue  # written after the current row was read
        if event.value is None:
            if row is not None or event.previous is None:
                return  # the row before this one
            deleted_at, row = event.revision, event.previous
            yield RowWrite(deleted_at, row, deleted=True)
        elif event.previous is None:
            return
        else:
            row = event.previous
        if row is not None:
            yield RowWrite(row.mod_revision, row, deleted=False)
