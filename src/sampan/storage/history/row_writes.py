"""Past writes of a key or a range, found in the events of a history."""

from collections import deque
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


def changes_in(newest_first: Iterable[StoreEvent], *, before: int, limit: int) -> Sequence[RowWrite]:
    """Return the writes among events, as `Store.changes` does."""
    below = (event for event in newest_first if not before or event.revision < before)
    return list(islice((write for event in below if (write := _write(event)) is not None), limit))


def deletions_in(newest_first: Iterable[StoreEvent], *, before: int, limit: int) -> Sequence[RowWrite]:
    """Return the deletions among events, as `Store.deletions` does."""
    return changes_in((event for event in newest_first if event.value is None), before=before, limit=limit)


async def newest_writes(
    store: Store, start: str, end: str, *, before: int, limit: int, deletions_only: bool = False
) -> Sequence[RowWrite]:
    """Return the newest writes of a range, newest first, from an engine that can only be read forwards.

    Reads all kept events, of which only `limit` are in memory.
    """
    newest = await store.revision()
    until, after = min(newest, before - 1) if before else newest, store.compacted
    while True:
        try:
            return await _newest_writes(store, (start, end), after, until, limit, deletions_only)
        except Compacted as error:
            after = max(error.compact_revision, after + 1)


async def _newest_writes(
    store: Store, span: tuple[str, str], after: int, until: int, limit: int, deletions_only: bool
) -> Sequence[RowWrite]:
    newest_last: deque[RowWrite] = deque(maxlen=limit)
    if after >= until:
        return ()
    async with store.watch(*span, after) as watch:
        async for batch in watch:
            for event in batch.events:
                write = None if deletions_only and event.value is not None else _write(event)
                if write is not None and event.revision <= until:
                    newest_last.append(write)
            if batch.revision >= until:
                break
    return list(reversed(newest_last))


def _write(event: StoreEvent) -> RowWrite | None:
    previous = event.previous
    if event.value is None:
        return None if previous is None else RowWrite(event.revision, previous, deleted=True)
    created = event.revision if previous is None else previous.create_revision
    return RowWrite(event.revision, KeyValue(event.key, event.value, created, event.revision), deleted=False)


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
