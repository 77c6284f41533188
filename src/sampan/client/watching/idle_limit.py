"""`IdleLimit`: limit of the time that a watch may be silent before its connection counts as dead."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.client.watching.list_watch import RawEvent

IDLE_S: Final = 90.0
"""Limit for servers that send bookmarks. They send one about every minute, at most every 75 s.
Source: apiserver pkg/storage/cacher/cacher.go `defaultBookmarkFrequency` and its jitter (1.36)."""
IDLE_WITHOUT_BOOKMARKS_S: Final = 180.0
"""Limit as long as the server has sent no bookmark. Such a server may just have no events; renewing its watches more
often would only cost requests."""


@dataclass(slots=True)
class IdleLimit:
    """Limit for the watches of one resource, one after the other; shorter once the server has sent a bookmark."""

    with_bookmarks_s: float = IDLE_S
    without_s: float = IDLE_WITHOUT_BOOKMARKS_S
    _bookmarks: bool = field(default=False, init=False)

    @property
    def seconds(self) -> float:
        """The current limit."""
        return min(self.with_bookmarks_s, self.without_s) if self._bookmarks else self.without_s

    def expired(self) -> None:
        """Record that a watch timed out. The server may have stopped sending bookmarks, so the longer limit applies
        again.
        """
        self._bookmarks = False

    def observe(self, batch: Sequence[RawEvent]) -> None:
        """Record the events of a watch."""
        if not self._bookmarks:
            self._bookmarks = any(event.type == "BOOKMARK" for event in batch)
