"""Demand for seats of a priority level over time, the input of borrowing.

Source: apiserver pkg/util/flowcontrol/fairqueuing/integrator.go, apf_controller.go seatDemandStats (1.36).
"""

import math
from typing import Final, NamedTuple

from sampan.server.flow_control.queues.usage import DemandIntegrals

SMOOTHING: Final = 0.977


class DemandStatistics(NamedTuple):
    """Mean, standard deviation and maximum of the demand in a period."""

    duration_s: float
    average: float
    deviation: float
    maximum: int


def statistics(integrals: DemandIntegrals, maximum: int) -> DemandStatistics:
    """Return the statistics of a period. `maximum`: the largest demand, which also is that of an empty period."""
    duration_s, seat_seconds, of_square = integrals
    if duration_s <= 0:
        return DemandStatistics(duration_s, float(maximum), 0.0, maximum)
    average = seat_seconds / duration_s
    deviation = math.sqrt(max(of_square / duration_s - average * average, 0.0))
    return DemandStatistics(duration_s, average, deviation, maximum)


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
