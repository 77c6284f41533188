"""`RecentWrites`: time and client of the newest writes, which the store does not have.

A ring by revision, so noting a write takes one call, and memory does not grow. It has no
writes of other servers on the same etcd.
"""

from typing import Final

import msgspec

from sampan.core.clock import unix_time
from sampan.registry.strategy import Context

WRITES_MAX: Final = 1 << 15
"""Number of revisions: 9 hours of one write a second, at most 10 MB."""
TEXT_LENGTH_MAX: Final = 256
"""Characters of a text that are kept, because clients choose user agents."""


class WriteRecord(msgspec.Struct, gc=False, frozen=True):
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


class RecentWrites:
    """Records of the newest writes of one server."""

    def __init__(self, writes_max: int = WRITES_MAX) -> None:
        self._records: list[WriteRecord | None] = [None] * writes_max
        self._size = writes_max

    def note(self, revision: int, ctx: Context, manager: str) -> None:
        """Record an acknowledged write."""
        self._records[revision % self._size] = WriteRecord(
            revision,
            unix_time(),
            ctx.user[:TEXT_LENGTH_MAX],
            ctx.user_agent[:TEXT_LENGTH_MAX],
            manager,
            ctx.traceparent[:TEXT_LENGTH_MAX],
        )

    def get(self, revision: int) -> WriteRecord | None:
        """Return the record of a revision, or None if it is too old, or another server wrote it."""
        record = self._records[revision % self._size]
        return record if record is not None and record.revision == revision else None
