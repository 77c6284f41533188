"""The progress of a test run: its remaining time."""

import pytest

from tests.progress import Estimate, minutes

TESTS = ["tests/a/test_x.py::one", "tests/a/test_x.py::two", "tests/test_y.py::one"]


def test_nothing_is_known_before_the_first_test_ends() -> None:
    estimate = Estimate(TESTS, {})
    assert estimate.left_s(5.0) is None
    estimate.report(TESTS[0], 60.0, ended=False)
    assert estimate.left_s(65.0) is None


def test_unknown_files_take_as_long_as_the_tests_that_are_done() -> None:
    estimate = Estimate(TESTS, {})
    estimate.report(TESTS[0], 4.0, ended=True)
    assert estimate.left_s(4.0) == pytest.approx(8.0)


def test_known_files_take_as_long_as_in_the_last_run() -> None:
    estimate = Estimate(TESTS, {"a/test_x.py": 2.0, "test_y.py": 30.0})
    estimate.report(TESTS[0], 1.0, ended=True)
    assert estimate.left_s(1.0) == pytest.approx(31.0)


def test_two_processes_halve_the_time() -> None:
    estimate = Estimate(TESTS, {"a/test_x.py": 2.0, "test_y.py": 30.0})
    estimate.report(TESTS[0], 1.0, ended=True)
    assert estimate.left_s(0.5) == pytest.approx(15.5)


def test_only_whole_files_are_kept_for_the_next_run() -> None:
    estimate = Estimate(TESTS, {})
    estimate.report(TESTS[0], 1.0, ended=True)
    estimate.report(TESTS[2], 0.5, ended=True)
    assert estimate.whole_files() == {"test_y.py": 0.5}


def test_a_time_is_shown_in_minutes_and_seconds() -> None:
    assert [minutes(59.4), minutes(190)] == ["59 s", "3 min 10 s"]
