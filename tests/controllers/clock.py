"""A manual clock for tests."""

import datetime as dt


class SetClock:
    """A clock that stands still until `forward` is called."""

    def __init__(self, now: dt.datetime | None = None) -> None:
        """Start at `now`, by default the current second, so that times from the server are not in the future."""
        self._now = now or dt.datetime.now(dt.UTC).replace(microsecond=0)

    def now(self) -> dt.datetime:
        """Return the current time of the clock."""
        return self._now

    def forward(self, seconds: float) -> None:
        """Advance the clock."""
        self._now += dt.timedelta(seconds=seconds)
