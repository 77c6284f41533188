"""`python -m benchmarks.toolkit` (also `python -m benchmarks --toolkit`): the toolkit's speed, with its goals."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.load import Figure
from benchmarks.report import machine, report
from benchmarks.toolkit.scenarios import BY_NAME, COUNT, SCENARIOS

RESULTS = Path(__file__).parents[1] / "results"
_HEADER = ("scenario", "Sampan", "goal", "MB/s", "errors", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.toolkit", description=__doc__)
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("--scenarios", default=",".join(names), help=f"comma-separated, of {', '.join(names)}")
    parser.add_argument("--n", type=int, default=COUNT, help=f"objects of a scenario ({COUNT})")
    parser.add_argument("--runs", type=int, default=3, help="the best of so many counts (3)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    chosen = [name for name in given.scenarios.split(",") if name]
    unknown = [name for name in chosen if name not in BY_NAME]
    if unknown:
        parser.error(f"unknown scenarios: {', '.join(unknown)} (there are {', '.join(names)})")
    about = machine() | {"objects of a scenario": str(given.n), "runs": f"{given.runs}, the best counts"}
    figures = {name: best(name, given.n, given.runs) for name in chosen}
    print(text_table(figures))
    report(f"stored in {store(figures, about, given.results)}")
    return 1 if any(figure.errors for figure in figures.values()) else 0


def best(name: str, count: int, runs: int) -> Figure:
    """Return the best figure of some runs."""
    scenario = BY_NAME[name]
    sign = -1 if scenario.lower_is_better else 1
    found = [scenario.measure(count) for _ in range(runs)]
    figure = max(found, key=lambda one: sign * one.value)
    figure = replace(figure, errors=sum(one.errors for one in found))
    report(f"{name:18} {number(figure.value, scenario.unit)}  {figure.note}")
    return figure


def rows(figures: Mapping[str, Figure]) -> list[tuple[str, ...]]:
    """Return a row of texts for each figure, with the columns of the header."""
    return [
        (
            BY_NAME[name].title,
            number(figure.value, BY_NAME[name].unit),
            number(BY_NAME[name].goal, BY_NAME[name].unit),
            f"{figure.mb_per_s:.1f}" if figure.mb_per_s else "",
            str(figure.errors) if figure.errors else "",
            figure.note,
        )
        for name, figure in figures.items()
    ]


def number(value: float, unit: str) -> str:
    """Return a figure with its unit, as text."""
    return f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def text_table(figures: Mapping[str, Figure]) -> str:
    """Return the table for the terminal."""
    table = [_HEADER, *rows(figures)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines)


def store(figures: Mapping[str, Figure], about: Mapping[str, str], directory: Path) -> Path:
    """Write the results as Markdown and JSON, named by the time. Return the path of the Markdown file."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = "toolkit-" + about["date"].removesuffix(" UTC").replace(" ", "T").replace(":", "")
    document = {"machine": dict(about), "figures": {name: figure.as_dict() for name, figure in figures.items()}}
    (directory / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
    table = ["| " + " | ".join(row) + " |" for row in (_HEADER, *rows(figures))]
    table.insert(1, "|" + "---|" * len(_HEADER))
    facts = [f"- {key}: {value}" for key, value in about.items()]
    path = directory / f"{stem}.md"
    path.write_text("\n".join(["# Benchmark results of the toolkit", "", *facts, "", *table]) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())
