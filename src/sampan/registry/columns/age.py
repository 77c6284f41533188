"""Ages and durations: cells that depend on the current time."""

from collections.abc import Callable
from datetime import datetime

from sampan.core.object import Object
from sampan.core.time import human_duration
from sampan.registry.columns.cells import UNKNOWN, column


def epoch_s(timestamp: str) -> float:
    """Return the seconds since 1970 of an RFC 3339 time."""
    return datetime.fromisoformat(timestamp).timestamp()


class Ages:
    """Formatter of durations until now. Its clock returns seconds since 1970."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.column = column("Age", self.age)

    def age(self, obj: Object) -> str:
        """Return the time since the object's creation."""
        timestamp = obj["metadata"].get("creationTimestamp")
        if timestamp is None:
            return UNKNOWN
        return human_duration(self._clock() - datetime.fromisoformat(timestamp).timestamp())

    def since(self, timestamp: str | None) -> str:
        """Return the time since a timestamp; `<unknown>` if there is none."""
        return human_duration(self._clock() - epoch_s(timestamp)) if timestamp else UNKNOWN

    def between(self, start: str, end: str | None) -> str:
        """Return the time from start to end, or until now."""
        return human_duration((epoch_s(end) if end else self._clock()) - epoch_s(start))
