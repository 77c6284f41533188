"""Figures as a table, and as files."""

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.load import Figure
from benchmarks.scenarios import Scenario
from benchmarks.toolkit.__main__ import number

_HEADER = ("scenario", "Sampan", "goal", "errors", "")


def rows(figures: Mapping[Scenario, Figure]) -> list[tuple[str, ...]]:
    """Return a row of texts for each figure, with the columns of the header."""
    return [
        (
            scenario.title,
            number(figure.value, scenario.unit),
            number(scenario.goal, scenario.unit) if scenario.goal else "",
            str(figure.errors) if figure.errors else "",
            figure.note,
        )
        for scenario, figure in figures.items()
    ]


def text_table(figures: Mapping[Scenario, Figure]) -> str:
    """Return the table for the terminal."""
    table = [_HEADER, *rows(figures)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines)


def store(
    figures: Mapping[Scenario, Figure],
    about: Mapping[str, str],
    directory: Path,
    *,
    kind: str = "scale",
    title: str = "very many objects",
) -> Path:
    """Write Markdown and JSON, named by the time. Return the path of the Markdown file."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"{kind}-" + about["date"].removesuffix(" UTC").replace(" ", "T").replace(":", "")
    named = {scenario.name: figure.as_dict() for scenario, figure in figures.items()}
    (directory / f"{stem}.json").write_text(json.dumps({"machine": dict(about), "figures": named}, indent=1) + "\n")
    table = ["| " + " | ".join(row) + " |" for row in (_HEADER, *rows(figures))]
    table.insert(1, "|" + "---|" * len(_HEADER))
    facts = [f"- {key}: {value}" for key, value in about.items()]
    path = directory / f"{stem}.md"
    path.write_text("\n".join([f"# Benchmark results with {title}", "", *facts, "", *table]) + "\n")
    return path
