"""Results of the cases, for people (text, Markdown) and for programs (JSON)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.loop_fuzz.probe import Wait
from benchmarks.report import machine

WORST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of one case: its response, the size of its body (or path), its duration and the longest wait meanwhile.

    `cpu_ms`: the longest wait in processor time of the server, which excludes that of other programs.
    """

    name: str
    response: str
    size_bytes: int
    took_ms: float
    wait_ms: float
    cpu_ms: float = 0.0
    loop_ms: float = 0.0


def quantile(values: Sequence[float], part: float) -> float:
    """Return a quantile of values in any order; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


def summary(outcomes: Sequence[Outcome], waits: Sequence[Wait]) -> dict[str, float]:
    """Return the figures: the longest wait of each case, and all waits of the probe."""
    found: dict[str, float] = {"cases": len(outcomes)}
    longest = {"": [one.wait_ms for one in outcomes], ", CPU": [one.cpu_ms for one in outcomes]}
    for suffix, values in longest.items():
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            found[f"longest wait of a case {name} ms{suffix}"] = quantile(values, part)
    found["requests of the probe"] = len(waits)
    every = {"": [one.ms for one in waits], ", CPU": [one.cpu_ms for one in waits]}
    for suffix, values in every.items():
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            found[f"wait {name} ms{suffix}"] = quantile(values, part)
    return found


def text(outcomes: Sequence[Outcome], waits: Sequence[Wait]) -> str:
    """Return a summary, then the worst cases first, by processor time."""
    lines = [f"{name:36} {value:10,.1f}" for name, value in summary(outcomes, waits).items()]
    lines += ["", f"{'wait ms':>9} {'CPU ms':>9} {'loop ms':>9} {'took ms':>9} {'bytes':>9} {'response':8} case"]
    for one in sorted(outcomes, key=lambda outcome: -outcome.cpu_ms)[:WORST_SHOWN]:
        times = f"{one.wait_ms:9,.1f} {one.cpu_ms:9,.1f} {one.loop_ms:9,.1f} {one.took_ms:9,.1f}"
        lines.append(f"{times} {one.size_bytes:9,} {one.response:8} {one.name}")
    return "\n".join(lines)


def store(outcomes: Sequence[Outcome], waits: Sequence[Wait], directory: Path) -> Path:
    """Write Markdown and JSON. Return the path of the Markdown file."""
    stem = f"loop-fuzz-{datetime.now(UTC):%Y-%m-%dT%H%M}"
    about = machine()
    found = {"about": about, "figures": summary(outcomes, waits), "cases": [asdict(one) for one in outcomes]}
    (directory / f"{stem}.json").write_text(json.dumps(found, indent=1) + "\n")
    path = directory / f"{stem}.md"
    lines = [f"- {name}: {value}" for name, value in about.items()]
    path.write_text("\n".join(["# Loop fuzz", "", *lines, "", "```", text(outcomes, waits), "```", ""]))
    return path
