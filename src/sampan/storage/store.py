"""`Store`: the protocol of storage engines, an ordered map with revisions. Every engine passes the same contract suite.

Concurrency: all methods are called on the event loop that runs the store. An engine moves blocking work off it.

Guarantees:
- The whole store has one sequence of revisions, one for each write. Revisions are never reused and never go back, also
  not after a crash. A write is acknowledged only when it is durable (as far as the engine can be).
- Reads without a revision are linearizable.
- A watcher sees every write of its range after the start revision exactly once and in order, or `Compacted`.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, NewType, Protocol

Revision = NewType("Revision", int)


class StoreError(Exception):
    """Base class of the errors of the store's contract.

    A failed write may also raise `StoreUnavailable` or `OutcomeUnknown`. Any other exception is a fault of the engine.
    """


class KeyExists(StoreError):
    """The key to create exists already."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Conflict(StoreError):
    """The key is not at the expected revision. `current` is its current row (None: absent)."""

    def __init__(self, key: str, current: "KeyValue | None") -> None:
        super().__init__(key)
        self.key = key
        self.current = current


class Compacted(StoreError):
    """The requested revision has been compacted."""

    def __init__(self, compact_revision: int, current_revision: int) -> None:
        super().__init__(f"revision compacted: {compact_revision} (current {current_revision})")
        self.compact_revision = compact_revision
        self.current_revision = current_revision


class FutureRevision(StoreError):
    """The requested revision has not been written yet."""

    def __init__(self, revision: int, current_revision: int) -> None:
        super().__init__(f"revision {revision} is in the future (current {current_revision})")
        self.revision = revision
        self.current_revision = current_revision


class ValueTooLarge(StoreError):
    """The value is too large for the engine."""


class StoreUnavailable(Exception):
    """The engine cannot write at the moment. Nothing was written, and the caller may retry.

    Not a `StoreError`: the cause is not the state of the row.
    """


class StoreUnreachable(StoreUnavailable):
    """The engine can neither read nor write: its server does not respond."""


class StoreFull(StoreUnavailable):
    """The store has no space left for writes. The text names the place and the remedy."""


class StoreDamaged(StoreUnavailable):
    """The stored data is damaged, so the engine refuses writes. The text names the file and the remedy."""


class OutcomeUnknown(Exception):
    """The outcome of a write is unknown, because the engine did not respond in time. It may still happen.

    Neither a `StoreError` nor a `StoreUnavailable`: the caller must read the row before it retries.
    """


STORE_ERRORS = (StoreError, StoreUnavailable, OutcomeUnknown)
"""Errors of a store that are not faults of this server. Loops catch them and retry."""


class StoreReplaced(Exception):
    """The store was replaced by another one, or restored from a backup. All data cached from it is invalid.

    Do not retry with the old state: components start again from an empty one.
    """


class StoreMisconfigured(Exception):
    """The settings do not match the store, so retrying is useless. The text is for the user."""


class StoreIncomplete(Exception):
    """The store contains a partial copy, which must not be served. `what` names the copy. The text is for the user."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the store holds a part of a copy ({what}), which is under way or was cut short: wait for it, or run "
            "`sampan storage copy` again with --clear-partial"
        )
        self.what = what


class Untransformable(Exception):
    """A value cannot be encrypted or decrypted. Not a `StoreError`: the row is intact. The text is for clients."""


class UnreadableValue(bytes):
    """Placeholder for a value that cannot be decrypted or read: the text of the error, not an object."""

    @property
    def error(self) -> str:
        """Text of the error."""
        return self.decode()


class KeyValue(NamedTuple):
    """A row, with the value that revision `mod_revision` wrote."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int


class RangeResult(NamedTuple):
    """Page of rows. `more`: the range has further keys. `count`: keys in the whole range (-1: not counted)."""

    items: Sequence[KeyValue]
    revision: int
    more: bool
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used here


class StoreEvent(NamedTuple):
    """One write. `value` is None for a delete; `previous` is the row before it (None for a create)."""

    revision: int
    key: str
    value: bytes | None
    previous: KeyValue | None


class RowWrite(NamedTuple):
    """One kept write. `row` is the state after it; for a deletion the last state before it, with its own revision.

    A write is a creation if the row has the same create and mod revision.
    """

    revision: int
    row: KeyValue
    deleted: bool


class EventBatch(NamedTuple):
    """Batch of a watch: events in revision order (may be empty), and the revision that the watch has reached.

    With this batch, every event of the range up to and including `revision` has been delivered.
    """

    events: Sequence[StoreEvent]
    revision: int


class Store(Protocol):
    """Ordered map with revisions; the module has its guarantees. Keys are text, ordered by their UTF-8 bytes.

    A range is `start <= key < end`.
    """

    async def open(self) -> None:
        """Prepare the store for use. Raises `OSError` or an engine's error if the data cannot be used."""

    async def close(self) -> None:
        """Finish pending writes and release files. Idempotent."""

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable)."""

    async def ready(self) -> None:
        """Wait until all earlier requests have completed. Health checks use it to see that writes still complete."""

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order. `limit` 0: all; `revision` 0: the newest. Raises `Compacted`, `FutureRevision`."""

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist. Raises `KeyExists`. With `ttl_s` > 0 the row expires, which is a delete."""

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`. Raises `Conflict`.

        `frees`: the write is a step of a deletion, which a full store accepts if it can.
        """

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`. Return the revision of the deletion. Raises `Conflict`."""

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`. Raises `Compacted`, also later, if the watch falls
        behind.
        """

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first, at most `limit` of those below revision `before` (0: all).

        They end at the creation of the row, of the last one if the key is deleted. Without a creation at the end, and
        with fewer than `limit`, the store no longer has what was before.
        """

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first, at most `limit` of those below `before` (0: all)."""

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first, at most `limit` of those below `before` (0: all)."""

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded and that the history still has.

        None: the engine does not count them.
        """

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay. Raises `Compacted`, `FutureRevision`."""

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""

    async def size_bytes(self) -> int:
        """Return the size of the store, for metrics."""


def prefix_end(prefix: str) -> str:
    """Return the end of the range of all keys with this prefix. The prefix ends in ASCII, as `/registry/pods/` does."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
