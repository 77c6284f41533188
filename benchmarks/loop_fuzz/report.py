"""What came of the cases, for people and for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import machine

WORST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: its answer, the size of its body (or path), how long it took and the longest wait meanwhile."""

    name: str
    answer: str
    size_bytes: int
    took_ms: float
    wait_ms: float


def quantile(values: Sequence[float], part: float) -> float:
    """A quantile of values in any order; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


def summary(outcomes: Sequence[Outcome], waits: Sequence[float]) -> dict[str, float]:
    """The figures: the longest wait of each case, and all waits of the probe."""
    longest = [outcome.wait_ms for outcome in outcomes]
    return {
        "cases": len(outcomes),
        "longest wait of a case p50 ms": quantile(longest, 0.5),
        "longest wait of a case p99 ms": quantile(longest, 0.99),
        "longest wait of a case max ms": max(longest, default=0.0),
        "requests of the probe": len(waits),
        "wait p50 ms": quantile(waits, 0.5),
        "wait p99 ms": quantile(waits, 0.99),
        "wait max ms": max(waits, default=0.0),
    }


def text(outcomes: Sequence[Outcome], waits: Sequence[float]) -> str:
    """A summary, then the worst cases first."""
    lines = [f"{name:32} {value:10,.1f}" for name, value in summary(outcomes, waits).items()]
    lines += ["", f"{'wait ms':>9} {'took ms':>9} {'bytes':>9} {'answer':8} case"]
    for one in sorted(outcomes, key=lambda outcome: -outcome.wait_ms)[:WORST_SHOWN]:
        lines.append(f"{one.wait_ms:9,.1f} {one.took_ms:9,.1f} {one.size_bytes:9,} {one.answer:8} {one.name}")
    return "\n".join(lines)


def store(outcomes: Sequence[Outcome], waits: Sequence[float], directory: Path) -> Path:
    """Write Markdown and JSON; gives the path of the former."""
    stem = f"loop-fuzz-{datetime.now(UTC):%Y-%m-%dT%H%M}"
    about = machine()
    found = {"about": about, "figures": summary(outcomes, waits), "cases": [asdict(one) for one in outcomes]}
    (directory / f"{stem}.json").write_text(json.dumps(found, indent=1) + "\n")
    path = directory / f"{stem}.md"
    lines = [f"- {name}: {value}" for name, value in about.items()]
    path.write_text("\n".join(["# Loop fuzz", "", *lines, "", "```", text(outcomes, waits), "```", ""]))
    return path
