"""The sample of the conformance suite has tests that pass in the whole suite."""

from pathlib import Path

import pytest

from tests.e2e.conformance.binaries import VERSION
from tests.e2e.conformance.sample import SAMPLE

_STORED = Path(__file__).parents[3] / "benchmarks" / "conformance"


def _runs() -> list[dict[str, float]]:
    """Tests that have passed, and their seconds, in each stored run; the newest run is the last one."""
    files = sorted(_STORED.glob(f"{VERSION.rpartition('.')[0]}.*.tsv"))
    runs = [[line.split("\t") for line in file.read_text().splitlines()] for file in files]
    return [{name: float(seconds) for seconds, state, name in rows if state == "passed"} for rows in runs]


@pytest.fixture(scope="module")
def passed() -> dict[str, float]:
    """Tests that have passed in the newest stored run, and their least seconds in any: some machines were busy."""
    runs = _runs()
    return {name: min(run[name] for run in runs if name in run) for name in runs[-1]}


@pytest.mark.parametrize("area", SAMPLE)
def test_test_of_the_sample_has_passed_in_a_whole_run(passed: dict[str, float], area: str) -> None:
    assert SAMPLE[area] in passed


def test_tests_of_the_sample_are_short(passed: dict[str, float]) -> None:
    assert sum(passed[name] for name in SAMPLE.values()) < 150


def test_no_test_of_the_sample_runs_twice_or_alone() -> None:
    names = list(SAMPLE.values())
    assert len(set(names)) == len(names)
    assert not [name for name in names if "[Serial]" in name or "[Slow]" in name]
