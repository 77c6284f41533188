"""Demand for seats of a priority level over time, the input of borrowing.

Source: apiserver pkg/util/flowcontrol/fairqueuing/integrator.go, apf_controller.go seatDemandStats (1.36).
"""

import math
from typing import Final, NamedTuple

SMOOTHING: Final = 0.977


class DemandStatistics(NamedTuple):
    """Mean, standard deviation and maximum of the demand in a period."""

    duration_s: float
    average: float
    deviation: float
    maximum: int


class DemandMeter:
    """Integrates a value over time. `level` may be lowered by assignment; it must be raised with `raise_to`."""

    __slots__ = ("_area", "_area_of_squares", "_duration_s", "level", "maximum")

    def __init__(self, now: float) -> None:
        self.level = self.maximum = 0
        self._duration_s = self._area = self._area_of_squares = 0.0

    def advance(self, passed_s: float) -> None:
        """Integrate the current value over the time since the last call."""
        level = self.level
        self._duration_s += passed_s
        if level:
            self._area += passed_s * level
            self._area_of_squares += passed_s * level * level

    def raise_to(self, level: int) -> None:
        """Set the value, and update the maximum."""
        self.level = level
        if level > self.maximum:
            self.maximum = level

    def take(self) -> DemandStatistics:
        """Return the statistics since the last call, and reset them."""
        duration_s, area, squares = self._duration_s, self._area, self._area_of_squares
        average = area / duration_s if duration_s > 0 else float(self.level)
        deviation = math.sqrt(max(squares / duration_s - average * average, 0.0)) if duration_s > 0 else 0.0
        observed = DemandStatistics(duration_s, average, deviation, self.maximum)
        self.maximum = self.level
        self._duration_s = self._area = self._area_of_squares = 0.0
        return observed


class DemandStats:
    """Smoothed demand of a level. A higher demand applies at once; a lower one takes effect gradually."""

    __slots__ = ("average", "deviation", "high_watermark", "smoothed")

    def __init__(self) -> None:
        self.average = self.deviation = self.smoothed = 0.0
        self.high_watermark = 0

    def update(self, observed: DemandStatistics) -> None:
        """Add the statistics of a period."""
        self.high_watermark = observed.maximum
        if observed.duration_s <= 0:
            return
        self.average, self.deviation = observed.average, observed.deviation
        envelope = observed.average + observed.deviation
        self.smoothed = max(envelope, SMOOTHING * self.smoothed + (1 - SMOOTHING) * envelope)
