"""Results of a run: stored after each test, so that a run can go on later, and summed up by SIG."""

import datetime as dt
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.e2e.conformance.suite import Result


class Results:
    """Newest result of each test, in a file."""

    def __init__(self, path: Path) -> None:
        """`path`: of the file, which may not exist yet."""
        self._path = path
        self.by_name: dict[str, Result] = {}
        self.basis: dict[str, str] = {}
        """All that the results depend on; empty if the file has none."""
        if path.exists():
            stored = json.loads(path.read_text())
            # Earlier versions wrote a list, without a basis.
            stored = stored if isinstance(stored, dict) else {"results": stored}
            self.basis = stored.get("basis", {})
            self.by_name = {each["name"]: Result(**each) for each in stored["results"]}

    def add(self, result: Result) -> None:
        """Record a result on disk."""
        self.by_name[result.name] = result
        written = self._path.with_suffix(".part")
        stored = {"basis": self.basis, "results": [asdict(each) for each in self.by_name.values()]}
        written.write_text(json.dumps(stored, indent=1))
        written.rename(self._path)

    def left(self, names: Sequence[str]) -> list[str]:
        """Return the tests that have not passed."""
        return [name for name in names if name not in self.by_name or not self.by_name[name].passed]

    def failed(self, names: Sequence[str]) -> list[Result]:
        """Return the failed ones of these tests."""
        return [self.by_name[name] for name in names if name in self.by_name and not self.by_name[name].passed]


def sig(name: str) -> str:
    """Return the SIG of a test: `sig-apps` of `[sig-apps] Deployment …`."""
    found = re.match(r"\[(sig-[a-z-]+)\]", name)
    return found.group(1) if found else "other"


def summary(results: Results, names: Sequence[str]) -> str:
    """Return a table with a row for each SIG, and the failed tests."""
    rows: dict[str, list[Result]] = defaultdict(list)
    for name, result in _found(results, names):
        rows[sig(name)].append(result)
    lines = ["| SIG | passed | of | minutes |", "|---|---|---|---|"]
    for key, found in [*sorted(rows.items()), ("all", [each for every in rows.values() for each in every])]:
        minutes = sum(each.seconds for each in found) / 60
        lines.append(f"| {key} | {sum(each.passed for each in found)} | {len(found)} | {minutes:.1f} |")
    failed = results.failed(names)
    if failed:
        lines += ["", "Failed:", ""]
        lines += [f"- {each.name}: {_first_line(each.message)}" for each in failed]
    return "\n".join(lines)


def store(results: Results, names: Sequence[str], directory: Path, nodes: int, version: str) -> Path:
    """Write the results of a run for others to read, and return the path. A second file has a row for each test.

    `version`: of the suite.
    """
    directory.mkdir(parents=True, exist_ok=True)
    now = dt.datetime.now(tz=dt.UTC)
    path = directory / f"{version}-{now:%Y-%m-%dT%H%M}.md"
    rows = [
        [f"{each.seconds:.1f}", "passed" if each.passed else "failed", name] for name, each in _found(results, names)
    ]
    path.with_suffix(".tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    head = f"# Conformance of Kubernetes {version}, {now:%Y-%m-%d}\n\n{nodes} nodes with containerd on one machine.\n\n"
    rows_of_basis = "".join(f"| {name} | {value} |\n" for name, value in results.basis.items())
    basis = f"| run on | |\n|---|---|\n{rows_of_basis}\n" if results.basis else ""
    path.write_text(f"{head}{basis}{summary(results, names)}\n")
    return path


def _found(results: Results, names: Sequence[str]) -> list[tuple[str, Result]]:
    return [(name, results.by_name[name]) for name in names if name in results.by_name]


def _first_line(text: str) -> str:
    return " ".join(text.split())[:300]
