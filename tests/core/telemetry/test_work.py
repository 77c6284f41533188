"""Metrics of work queues."""

import pytest

from sampan.core.telemetry.work import WorkMetrics


class Clock:
    """Clock that the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_item_waits_once_and_its_waiting_and_processing_are_timed() -> None:
    clock = Clock()
    work = WorkMetrics(clock)
    work.add("a")
    work.add("a")
    assert (work.depth, work.adds) == (1, 1)
    clock.now = 2.0
    with work.at("a"):
        clock.now = 5.0
        assert (work.depth, work.running_s()) == (0, [3.0])
    assert work.running_s() == []
    assert (work.waits.series[()][0], work.durations.series[()][0]) == (2.0, 3.0)


def test_item_is_added_when_its_processing_starts() -> None:
    work = WorkMetrics(Clock())
    with work.at("a"):
        pass
    assert (work.adds, work.waits.totals()) == (1, {(): 1})


def test_failed_item_counts_as_processed() -> None:
    work = WorkMetrics(Clock())
    with pytest.raises(ValueError, match="no"), work.at("a"):
        raise ValueError("no")
    assert (work.running_s(), work.durations.totals()) == ([], {(): 1})


def test_dropped_item_no_longer_waits() -> None:
    work = WorkMetrics(Clock())
    work.add("a")
    work.drop("a")
    assert work.depth == 0
