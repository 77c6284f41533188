"""How loops get on."""

import pytest

from sampan.core.work import Work


class Clock:
    """Moves by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_item_waits_once_and_is_timed_while_it_waits_and_is_worked_at() -> None:
    clock = Clock()
    work = Work(clock)
    work.add("a")
    work.add("a")
    assert (work.depth, work.adds) == (1, 1)
    clock.now = 2.0
    with work.at("a"):
        clock.now = 5.0
        assert (work.depth, work.running_s()) == (0, [3.0])
    assert work.running_s() == []
    assert (work.waits.series[()][0], work.durations.series[()][0]) == (2.0, 3.0)


def test_what_nobody_had_added_is_added_when_it_is_worked_at() -> None:
    work = Work(Clock())
    with work.at("a"):
        pass
    assert (work.adds, work.waits.totals()) == (1, {(): 1})


def test_what_fails_was_worked_at_too() -> None:
    work = Work(Clock())
    with pytest.raises(ValueError, match="no"), work.at("a"):
        raise ValueError("no")
    assert (work.running_s(), work.durations.totals()) == ([], {(): 1})


def test_an_item_that_is_dropped_waits_no_more() -> None:
    work = Work(Clock())
    work.add("a")
    work.drop("a")
    assert work.depth == 0
