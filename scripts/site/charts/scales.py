"""Scales of axes, and how their numbers are written."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Linear:
    """Scale from 0 to `top`, drawn from `start` to `end` pixels."""

    top: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + (self.end - self.start) * value / self.top

    def ticks(self, count: int = 4) -> Sequence[float]:
        """Return about `count` round values, from 0."""
        rough = self.top / count
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in _STEPS if factor * power >= rough * 0.999)
        return [step * number for number in range(int(self.top / step + 0.001) + 1)]


@dataclass(frozen=True, slots=True)
class Logarithmic:
    """Scale from `bottom` to `top`, both powers of ten, drawn from `start` to `end` pixels."""

    bottom: float
    top: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        part = math.log10(value / self.bottom) / math.log10(self.top / self.bottom)
        return self.start + (self.end - self.start) * part

    def ticks(self) -> Sequence[float]:
        """Return the powers of ten."""
        first, last = round(math.log10(self.bottom)), round(math.log10(self.top))
        return [10.0**power for power in range(first, last + 1)]


def number(value: float) -> str:
    """Return a value with at most three digits, or in whole numbers with commas: 0.18, 6.4, 3,805."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
