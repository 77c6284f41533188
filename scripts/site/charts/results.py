"""Stored results of the benchmarks, in the order of their dates."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).parents[3] / "benchmarks" / "results"
SERVER: Final = ""
TESTING: Final = "testing"
NODE: Final = "node"
_FILE: Final = re.compile(r"(?:([a-z-]+)-)?(\d{4}-\d{2}-\d{2}T\d{4})\.json\Z")


@dataclass(frozen=True, slots=True)
class Result:
    """One run of a benchmark."""

    stem: str
    """Name of its files without the suffix."""
    at: datetime
    machine: Mapping[str, str]
    figures: Mapping[str, float]
    """Figures by scenario."""

    @property
    def day(self) -> str:
        """Day of the run: 27 Nov."""
        return f"{self.at.day} {self.at:%b}"


@cache
def results(kind: str) -> tuple[Result, ...]:
    """Return the results of a benchmark: `SERVER`, `TESTING` or `NODE`."""
    found = []
    for file in sorted(RESULTS.glob("*.json")):
        match = _FILE.match(file.name)
        if match is not None and (match[1] or "") == kind:
            at = datetime.strptime(match[2], "%Y-%m-%dT%H%M").replace(tzinfo=UTC)
            document: dict[str, Any] = json.loads(file.read_text())
            figures = {name: _value(figure) for name, figure in document["figures"].items()}
            found.append(Result(file.stem, at, document["machine"], figures))
    return tuple(sorted(found, key=lambda each: each.at))


def with_figure(kind: str, *names: str) -> list[Result]:
    """Return the results that have all these figures."""
    return [each for each in results(kind) if all(name in each.figures for name in names)]


def _value(figure: Any) -> float:
    return float(figure["value"] if isinstance(figure, dict) else figure)
