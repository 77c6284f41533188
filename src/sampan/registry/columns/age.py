"""How long ago: the cells that change as time goes by."""

from collections.abc import Callable
from datetime import datetime

from sampan.core.object import Object
from sampan.core.time import human_duration
from sampan.registry.columns.cells import UNKNOWN, column


def epoch_s(timestamp: str) -> float:
    """Seconds since 1970 of an RFC 3339 time."""
    return datetime.fromisoformat(timestamp).timestamp()


class Ages:
    """Durations until now, by a clock that gives seconds since 1970."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.column = column("Age", self.age)

    def age(self, obj: Object) -> str:
        """Time since the object's creation."""
        timestamp = obj["metadata"].get("creationTimestamp")
        if timestamp is None:
            return UNKNOWN
        return human_duration(self._clock() - datetime.fromisoformat(timestamp).timestamp())

    def since(self, timestamp: str | None) -> str:
        """Time since a moment, `<unknown>` if there is none."""
        return human_duration(self._clock() - epoch_s(timestamp)) if timestamp else UNKNOWN

    def between(self, start: str, end: str | None) -> str:
        """Time from start to end, or until now."""
        return human_duration((epoch_s(end) if end else self._clock()) - epoch_s(start))
