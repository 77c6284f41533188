"""The Store protocol: an ordered map with revisions. Every engine passes the same contract suite.

Concurrency: all methods are called on the event loop that runs the store; an engine moves blocking work off it itself.

Guarantees:
- one sequence of revisions for the whole store, one revision for each write, never reused, never going back, also not
  after a crash; a write is acknowledged only when it is durable (as far as the engine can be);
- reads without a revision are linearizable;
- a watcher sees every write of its range after the given revision exactly once and in order, or `Compacted`.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, NewType, Protocol

Revision = NewType("Revision", int)


class StoreError(Exception):
    """The root of the store's own errors. Anything else that a store raises is a fault of the engine; when a write
    failed by no fault of its own, `StoreUnavailable`.
    """


class KeyExists(StoreError):
    """A create found the key taken."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Conflict(StoreError):
    """The key is not at the expected revision. `current` is what is there now (None: absent)."""

    def __init__(self, key: str, current: "KeyValue | None") -> None:
        super().__init__(key)
        self.key = key
        self.current = current


class Compacted(StoreError):
    """The asked revision is older than the compaction."""

    def __init__(self, compact_revision: int, current_revision: int) -> None:
        super().__init__(f"revision compacted: {compact_revision} (current {current_revision})")
        self.compact_revision = compact_revision
        self.current_revision = current_revision


class FutureRevision(StoreError):
    """The asked revision has not been written yet."""

    def __init__(self, revision: int, current_revision: int) -> None:
        super().__init__(f"revision {revision} is in the future (current {current_revision})")
        self.revision = revision
        self.current_revision = current_revision


class ValueTooLarge(StoreError):
    """The engine takes no value of this size."""


class StoreUnavailable(Exception):
    """The engine cannot write at the moment: nothing was written, and the caller may try again. Not a `StoreError`: it
    says nothing about the row.
    """


class StoreUnreachable(StoreUnavailable):
    """Nor can it be read: it is elsewhere, and does not answer."""


class StoreFull(StoreUnavailable):
    """No space left for writes. The text names the place and the remedy."""


class StoreDamaged(StoreUnavailable):
    """The stored data is damaged, so the engine refuses writes. The text names the file and the remedy."""


class OutcomeUnknown(Exception):
    """The engine did not say in time whether it wrote: the write may have been made, or may still be.

    Neither a `StoreError` nor a `StoreUnavailable`: whoever asked for the write has to look what is there.
    """


STORE_ERRORS = (StoreError, StoreUnavailable, OutcomeUnknown)
"""All that a store raises when it is no fault of the server's: for loops, which look again."""


class StoreReplaced(Exception):
    """The store is another one than before, or has gone back to an earlier state: a backup was restored. What is known
    of it counts no more, so it is not asked again by those who know it: they begin anew.
    """


class StoreMisconfigured(Exception):
    """The store cannot be reached as it is said where it is, and that will not change by itself. Its text is for the
    user.
    """


class StoreIncomplete(Exception):
    """What is there is a part of a copy, which has not come to its end: it is nothing to serve. `what` says which copy.
    Its text is for the user.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the store holds a part of a copy ({what}), which is under way or was cut short: wait for it, or run "
            "`sampan storage copy` again with --clear-partial"
        )
        self.what = what


class Untransformable(Exception):
    """A value cannot be encrypted or decrypted. Not a `StoreError`: the row is there, or could be. Its text is for
    clients.
    """


class UnreadableValue(bytes):
    """Stands for a value that cannot be decrypted or read: the text that says why. It is no object in any form."""

    @property
    def error(self) -> str:
        """Why."""
        return self.decode()


class KeyValue(NamedTuple):
    """A row: the value as it was written by revision `mod_revision`."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int


class RangeResult(NamedTuple):
    """A page. `more`: keys of the range beyond the page exist. `count`: keys in the whole range (-1: not counted)."""

    items: Sequence[KeyValue]
    revision: int
    more: bool
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


class StoreEvent(NamedTuple):
    """One write. `value` is None for a delete; `previous` is the row before it (None for a create)."""

    revision: int
    key: str
    value: bytes | None
    previous: KeyValue | None


class EventBatch(NamedTuple):
    """What a watch yields: events in revision order (may be empty), and how far the watcher now is.

    Every event of the range up to and including `revision` has been delivered once this batch is taken.
    """

    events: Sequence[StoreEvent]
    revision: int


class Store(Protocol):
    """See the module. Keys are text, ordered by their UTF-8 bytes; a range is `start <= key < end`."""

    async def open(self) -> None:
        """Make ready to serve. Raises `OSError` or an engine's error when the data cannot be used."""

    async def close(self) -> None:
        """Finish the writes under way and let go of files. Idempotent."""

    async def revision(self) -> Revision:
        """The newest revision (linearizable)."""

    async def ready(self) -> None:
        """Returns when what was asked for before has come to its end: for whoever wonders whether writes still do."""

    async def get(self, key: str) -> KeyValue | None:
        """The row as it is now."""

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Rows in key order; `limit` 0 = all; `revision` 0 = now. Raises `Compacted`, `FutureRevision`."""

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist. Raises `KeyExists`. `ttl_s` > 0: the row expires (as a delete)."""

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`. Raises `Conflict`.

        `frees`: the write is a step of a deletion, which a full store accepts if it can.
        """

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`; gives the deletion's revision. Raises `Conflict`."""

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """All events of the range with revision > `after`. Raises `Compacted` (also later, when it falls behind)."""

    async def compact(self, revision: int) -> None:
        """Forget history up to `revision` (current rows stay). Raises `Compacted`, `FutureRevision`."""

    @property
    def compacted(self) -> int:
        """How far history is forgotten, whoever did it, as far as this store has heard; 0: it is all there."""

    async def size_bytes(self) -> int:
        """What the store occupies (for metrics)."""


def prefix_end(prefix: str) -> str:
    """The end of the range that holds every key with this prefix (prefixes end in ASCII, as `/registry/pods/`)."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
