"""`RecentWrites`: time and client of the newest writes, which the store does not have.

A ring by revision: `ResourceStore.note_write` sets one entry, and memory does not grow. It has no writes of other
servers on the same etcd.
"""

from typing import Final, TypeAlias

import msgspec

WRITES_MAX: Final = 1 << 15
"""Number of revisions: 9 hours of one write a second, at most 10 MB."""
TEXT_LENGTH_MAX: Final = 256
"""Maximum number of characters of a text, because clients choose user agents."""


class WriteRecord(msgspec.Struct, frozen=True, gc=False):
    """Time and client of a write. Texts are empty if they are not known."""

    revision: int
    time: float
    """Seconds since the epoch."""
    user: str
    """User of the request; empty for a write of the server itself."""
    user_agent: str
    manager: str
    """Field manager."""
    traceparent: str
    """Header of that name: the trace that the write belongs to."""


RecentWrites: TypeAlias = list[WriteRecord | None]
"""Records by revision modulo `WRITES_MAX`."""


def no_writes() -> RecentWrites:
    """Return a ring without records."""
    return [None] * WRITES_MAX


def record_of(recent: RecentWrites, revision: int) -> WriteRecord | None:
    """Return the record of a revision, or None if it is too old, or another server wrote it."""
    record = recent[revision % WRITES_MAX]
    return record if record is not None and record.revision == revision else None
