"""Measures of a soak, and the conditions of its failure: pure functions of the samples."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GROWTH_MAX: Final = 0.05
"""Part by which a measure may grow in the second half of a soak."""
SAMPLES_MIN: Final = 12
"""Minimum number of samples for a comparison in the second half."""


@dataclass(frozen=True, slots=True)
class Sample:
    """State of one process at the end of a minute, without load."""

    memory_mb: float
    descriptors: int
    tasks: int
    idle_percent: float
    """Processor time that the process uses without load, in percent of one core."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of the samples. `slack`: an absolute growth up to this value is noise and does not count."""

    field: str
    title: str
    slack: float


MEASURES: Final = (
    Measure("memory_mb", "memory (MB)", 2.0),
    Measure("descriptors", "descriptors", 4.0),
    Measure("tasks", "tasks", 4.0),
    Measure("idle_percent", "idle CPU (%)", 1.0),
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth of one measure of a process in the second half."""

    process: str
    measure: Measure
    before: float
    after: float

    @property
    def part(self) -> float:
        """Growth as a part of the value at the beginning of the second half."""
        return (self.after - self.before) / self.before if self.before else 0.0

    @property
    def failed(self) -> bool:
        """True if the measure grew by more than is allowed."""
        return self.after - self.before > max(self.measure.slack, GROWTH_MAX * self.before)

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "ok"
        figures = f"{self.before:.1f} -> {self.after:.1f} ({self.part:+.1%})"
        return f"{self.process:7} {self.measure.title:13} second half {figures:28} {verdict}"


def growth(process: str, samples: Sequence[Sample]) -> list[Growth]:
    """Compare the beginning of the second half with its end: the medians of its first and of its last third.

    In the first half the caches fill, so it does not count. Raises `ValueError` with fewer than `SAMPLES_MIN` samples.
    """
    if len(samples) < SAMPLES_MIN:
        raise ValueError(f"{len(samples)} samples of {process} are too few to judge: {SAMPLES_MIN} are needed")
    half = samples[len(samples) // 2 :]
    third = max(len(half) // 3, 3)
    found = []
    for measure in MEASURES:
        values = [float(getattr(sample, measure.field)) for sample in half]
        found.append(Growth(process, measure, statistics.median(values[:third]), statistics.median(values[-third:])))
    return found


def line(minute: float, samples: dict[str, Sample], note: str) -> str:
    """Return the line about one minute of all processes."""
    parts = [
        f"{process} {sample.memory_mb:6.1f} MB {sample.descriptors:4d} fds {sample.tasks:4d} tasks "
        f"{sample.idle_percent:4.1f} % idle"
        for process, sample in samples.items()
    ]
    return f"{minute:6.1f} min | {' | '.join(parts)} | {note}"
