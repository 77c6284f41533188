"""The toolkit's benchmarks run, with small numbers, and store what they found."""

import json
from pathlib import Path

import pytest
from benchmarks.__main__ import main
from benchmarks.toolkit.pods import SIZE_BYTES, pod
from benchmarks.toolkit.scenarios import SCENARIOS


@pytest.mark.timeout(900)
def test_every_scenario_of_the_toolkit_runs_without_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--toolkit", "--n", "50", "--runs", "1", "--results", str(tmp_path)]) == 0
    (stored,) = tmp_path.glob("toolkit-*.json")
    figures = json.loads(stored.read_text())["figures"]
    assert list(figures) == [scenario.name for scenario in SCENARIOS]
    assert all(figure["value"] > 0 or name.endswith("memory") for name, figure in figures.items())
    table = capsys.readouterr().out
    assert all(scenario.title in table for scenario in SCENARIOS)
    assert "goal" in stored.with_suffix(".md").read_text()


def test_the_pods_are_as_large_as_they_state() -> None:
    assert {len(pod(number, number)) for number in (0, 7, 9999)} == {SIZE_BYTES}
    assert json.loads(pod(1, 2))["metadata"]["resourceVersion"] == "2"


def test_an_unknown_scenario_of_the_toolkit_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["--toolkit", "--scenarios", "nonsense"])
