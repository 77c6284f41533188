"""What a soak measures, and when it has failed: pure functions of the samples."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GROWTH_MAX: Final = 0.05
"""The second half of a soak may grow by this part."""
SAMPLES_MIN: Final = 12
"""With fewer samples there is no second half to judge."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one process holds at the end of a minute, while nothing is asked of it."""

    memory_mb: float
    descriptors: int
    tasks: int
    idle_percent: float
    """Processor time that it uses while nothing is asked of it, in percent of one core."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of the samples. `slack`: growth below it is noise, whatever part it is."""

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
    """How a measure of a process went in the second half."""

    process: str
    measure: Measure
    before: float
    after: float

    @property
    def part(self) -> float:
        """Growth as a part of the value in the middle."""
        return (self.after - self.before) / self.before if self.before else 0.0

    @property
    def failed(self) -> bool:
        """Whether it grew by more than is allowed."""
        return self.after - self.before > max(self.measure.slack, GROWTH_MAX * self.before)

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "ok"
        figures = f"{self.before:.1f} -> {self.after:.1f} ({self.part:+.1%})"
        return f"{self.process:7} {self.measure.title:13} second half {figures:28} {verdict}"


def growth(process: str, samples: Sequence[Sample]) -> list[Growth]:
    """Compare the beginning of the second half with its end: the medians of its first and of its last third.

    The first half is for caches to fill. Raises `ValueError` with fewer than `SAMPLES_MIN` samples.
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
    """One minute of all processes."""
    parts = [
        f"{process} {sample.memory_mb:6.1f} MB {sample.descriptors:4d} fds {sample.tasks:4d} tasks "
        f"{sample.idle_percent:4.1f} % idle"
        for process, sample in samples.items()
    ]
    return f"{minute:6.1f} min | {' | '.join(parts)} | {note}"
