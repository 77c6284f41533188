"""A clock that shows what a test says."""

import datetime as dt


class SetClock:
    """Stands still until it is set forward."""

    def __init__(self, now: dt.datetime | None = None) -> None:
        """It shows the present second at first, unless told otherwise: what the server writes is not in its future."""
        self._now = now or dt.datetime.now(dt.UTC).replace(microsecond=0)

    def now(self) -> dt.datetime:
        """What it shows."""
        return self._now

    def forward(self, seconds: float) -> None:
        """Set it forward."""
        self._now += dt.timedelta(seconds=seconds)
