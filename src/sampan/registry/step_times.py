"""`StepTimes`: durations of the steps of writes, from a sample: every 16th write, from the first one on.

Timing all steps of every write would make a small write 10 % slower; the sample costs 1 to 1.5 %.
"""

from time import perf_counter
from types import TracebackType
from typing import Final

from sampan.core.telemetry.durations import Durations

BUCKETS: Final = (
    1e-05, 2.5e-05, 5e-05, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0,
)  # fmt: skip
"""Upper bounds of the histogram buckets, in seconds. A step that computes takes 1 to 100 µs, and a step that waits for
a webhook or a disk takes up to its timeout.
"""
SAMPLED: Final = 16
"""Sampling interval: one of this number of writes is timed."""


class StepTimer:
    """Observer of one write: times its steps. Steps of a repeated attempt and failed steps are counted too."""

    __slots__ = ("_began", "_durations", "_name")

    def __init__(self, durations: Durations) -> None:
        self._durations = durations
        self._name, self._began = "", 0.0

    def step(self, name: str, write: object) -> "StepTimer":
        """Return a context in which the step of this name runs."""
        self._name = name
        return self

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._durations.observe((self._name,), perf_counter() - self._began)


class StepTimes:
    """Durations of the steps of the writes of one cluster."""

    def __init__(self) -> None:
        self.durations = Durations(BUCKETS)
        """Durations in seconds, by step."""
        self._untimed = SAMPLED - 1

    def observer(self) -> StepTimer | None:
        """Return the observer of a new write; None if it is not timed."""
        self._untimed += 1
        if self._untimed < SAMPLED:
            return None
        self._untimed = 0
        return StepTimer(self.durations)
