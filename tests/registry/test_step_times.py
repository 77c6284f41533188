"""The sample of writes whose steps are timed."""

import pytest

from sampan.registry.step_times import SAMPLED, StepTimes


def test_the_first_write_is_timed_and_then_every_sixteenth() -> None:
    times = StepTimes()
    timed = [number for number in range(2 * SAMPLED + 1) if times.observer() is not None]
    assert timed == [0, 16, 32]


def test_a_step_that_fails_is_timed() -> None:
    times = StepTimes()
    observer = times.observer()
    assert observer is not None
    with pytest.raises(ValueError, match="no"), observer.step("store", None):
        raise ValueError("no")
    assert times.durations.totals() == {("store",): 1}
