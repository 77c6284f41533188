"""`BookmarkTimes`: times of the bookmarks of a server's watches. Watches share them, to wake the server rarely.

Source: apiserver pkg/storage/cacher/cacher.go `watcherBookmarkTimeBuckets` (1.36).
"""

import math
import random
from typing import Final

PERIOD_S: Final = 60.0
JITTER: Final = 0.1
"""A period varies by this fraction. So the bookmarks of watches that begin together are not all sent together."""
TOGETHER_MAX: Final = 16
"""Watches of one time. A bookmark alone takes three times as much processor time, but many would block the loop."""


class BookmarkTimes:
    """Assigns a time to each bookmark."""

    def __init__(self) -> None:
        self._at = 0.0
        self._places = 0

    def after(self, now: float) -> float:
        """Return the time of a watch's next bookmark, after the one at `now` or its begin. Both are loop times."""
        soonest, latest = now + PERIOD_S * (1 - JITTER), now + PERIOD_S * (1 + JITTER)
        if not self._places or not soonest <= self._at <= latest:
            # Whole seconds: the loop's timers have milliseconds, and round other times each in its own way.
            self._at, self._places = math.ceil(random.uniform(soonest, latest - 1)), TOGETHER_MAX
        self._places -= 1
        return self._at
