"""`python -m benchmarks.testing` (also `python -m benchmarks --testing`): the speed of tests, with its goals."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.report import machine, report, store_table
from benchmarks.testing.scenarios import BY_NAME, SCENARIOS

RESULTS = Path(__file__).parents[1] / "results"
_HEADER = ("scenario", "Sampan", "goal")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements and store the best of some runs."""
    parser = argparse.ArgumentParser(prog="benchmarks.testing", description=__doc__)
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("--scenarios", default=",".join(names), help=f"comma-separated, of {', '.join(names)}")
    parser.add_argument("--runs", type=int, default=3, help="the best of so many runs (3)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    chosen = [name for name in given.scenarios.split(",") if name]
    unknown = [name for name in chosen if name not in BY_NAME]
    if unknown:
        parser.error(f"unknown scenarios: {', '.join(unknown)} (there are {', '.join(names)})")
    figures = {}
    for name in chosen:
        figures[name] = min(BY_NAME[name].measure() for _ in range(given.runs))
        report("  ".join(row(name, figures[name])))
    about = machine() | {"runs": f"{given.runs}, the best counts"}
    report(f"stored in {store(figures, about, given.results)}")
    return 0


def row(name: str, value: float) -> tuple[str, str, str]:
    """Return a row of texts, with the columns of the header."""
    scenario = BY_NAME[name]
    return scenario.title, f"{value:.3g}{scenario.unit}", f"{scenario.goal:g}{scenario.unit}"


def store(figures: Mapping[str, float], about: Mapping[str, str], directory: Path) -> Path:
    """Write the results as Markdown and JSON, named by the time. Return the path of the Markdown file."""
    table = [_HEADER, *(row(name, figures[name]) for name in figures)]
    return store_table("tests", figures, table, about, directory / "testing")


if __name__ == "__main__":
    sys.exit(main())
