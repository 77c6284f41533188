"""Results for people (a table on the terminal, Markdown) and for programs (JSON)."""

import json
import os
import platform
import sqlite3
import ssl
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.load import Figure
from benchmarks.scenarios import BY_NAME, FAN_OUT, FAN_OUT_P50_MS, FULL_N, Scenario

_HEADER = ("scenario", "Sampan", "goal", "kube-apiserver", "times", "p50 ms", "p99 ms", "MB/s", "errors")


def machine() -> dict[str, str]:
    """Return a description of the machine and its software, without host names."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": str(cores),
        "load when it began": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "openssl": ssl.OPENSSL_VERSION.split(" ")[1],
    }


def rows(figures: Mapping[str, Figure]) -> list[tuple[str, ...]]:
    """Return a row of texts for each figure, with the columns of `_HEADER`."""
    found = [_row(BY_NAME[name], figure) for name, figure in figures.items()]
    fan_out = figures.get(FAN_OUT)
    if fan_out is not None:
        goal, reference = FAN_OUT_P50_MS["goal"], FAN_OUT_P50_MS["reference"]
        times = f"{reference / fan_out.p50_ms:.1f}" if fan_out.p50_ms else ""
        p50 = ("watch: p50", f"{fan_out.p50_ms:.1f} ms", f"{goal:.0f} ms", f"{reference:.0f} ms", times)
        found.insert(list(figures).index(FAN_OUT) + 1, (*p50, "", "", "", ""))
    return found


def _row(scenario: Scenario, figure: Figure) -> tuple[str, ...]:
    reference, goal = scenario.reference, scenario.goal
    times = ""
    if reference and figure.value:
        times = f"{reference / figure.value if scenario.lower_is_better else figure.value / reference:.1f}"
    return (
        scenario.title,
        _number(figure.value, scenario.unit),
        _number(goal, scenario.unit),
        _number(reference, scenario.unit),
        times,
        f"{figure.p50_ms:.2f}" if figure.p50_ms else "",
        f"{figure.p99_ms:.2f}" if figure.p99_ms else "",
        f"{figure.mb_per_s:.1f}" if figure.mb_per_s else "",
        str(figure.errors) if figure.errors else "",
    )


def _number(value: float, unit: str) -> str:
    if not value:
        return "–"
    return f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def text_table(figures: Mapping[str, Figure]) -> str:
    """Return the table for the terminal."""
    table = [_HEADER, *rows(figures)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_HEADER))]
    return "\n".join(_line(row, widths) for row in table)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip()


def markdown(figures: Mapping[str, Figure], about: Mapping[str, str]) -> str:
    """Return the Markdown document for the results folder."""
    lines = ["# Benchmark results", ""]
    lines += [f"- {key}: {value}" for key, value in about.items()]
    lines += [
        "",
        "The column kube-apiserver has the figures of kube-apiserver 1.36 with etcd on a machine of two cores, with",
        f"{FULL_N:,} objects; load and server shared the cores there and here. Memory: that of both together.",
        "",
        "| " + " | ".join(_HEADER) + " |",
        "|" + "---|" * len(_HEADER),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows(figures)]
    notes = [f"- {BY_NAME[name].title}: {figure.note}" for name, figure in figures.items() if figure.note]
    if notes:
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


def store(figures: Mapping[str, Figure], about: Mapping[str, str], directory: Path) -> Path:
    """Write Markdown and JSON, named by the time and, unless it is SQLite, the store.

    Return the path of the Markdown file.
    """
    directory.mkdir(parents=True, exist_ok=True)
    prefix = "etcd-" if about.get("storage") == "etcd" else ""
    stem = prefix + about["date"].removesuffix(" UTC").replace(" ", "T").replace(":", "")
    document = {"machine": dict(about), "figures": {name: figure.as_dict() for name, figure in figures.items()}}
    (directory / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
    path = directory / f"{stem}.md"
    path.write_text(markdown(figures, about))
    return path


def store_table(
    title: str, figures: Mapping[str, float], table: Sequence[Sequence[str]], about: Mapping[str, str], stem: Path
) -> Path:
    """Write figures as JSON, and a table with its header as Markdown. Return the path of the Markdown file.

    `stem`: folder and kind of the files; the time is appended.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    name = f"{stem.name}-{about['date'].removesuffix(' UTC').replace(' ', 'T').replace(':', '')}"
    document = {"machine": dict(about), "figures": {each: round(value, 4) for each, value in figures.items()}}
    stem.with_name(f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    lines = ["| " + " | ".join(row) + " |" for row in table]
    lines.insert(1, "|" + "---|" * len(table[0]))
    facts = [f"- {key}: {value}" for key, value in about.items()]
    path = stem.with_name(f"{name}.md")
    path.write_text("\n".join([f"# Benchmark results of {title}", "", *facts, "", *lines]) + "\n")
    return path


def report(line: str) -> None:
    """Print a line about the progress on stderr, separate from the results."""
    print(line, file=sys.stderr, flush=True)
