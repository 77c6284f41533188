"""The sample of the conformance suite has tests that pass in the whole suite."""

from pathlib import Path

import pytest

from tests.e2e.conformance.binaries import VERSION
from tests.e2e.conformance.sample import SAMPLE

_STORED = Path(__file__).parents[3] / "benchmarks" / "conformance"


@pytest.fixture(scope="module")
def passed() -> dict[str, float]:
    """Tests that have passed in the newest stored run, and their seconds."""
    newest = max(_STORED.glob(f"{VERSION}-*.tsv"))
    rows = [line.split("\t") for line in newest.read_text().splitlines()]
    return {name: float(seconds) for seconds, state, name in rows if state == "passed"}


@pytest.mark.parametrize("area", SAMPLE)
def test_test_of_the_sample_has_passed_in_a_whole_run(passed: dict[str, float], area: str) -> None:
    assert SAMPLE[area] in passed


def test_tests_of_the_sample_are_short(passed: dict[str, float]) -> None:
    assert sum(passed[name] for name in SAMPLE.values()) < 150


def test_no_test_of_the_sample_runs_twice_or_alone() -> None:
    names = list(SAMPLE.values())
    assert len(set(names)) == len(names)
    assert not [name for name in names if "[Serial]" in name or "[Slow]" in name]
