"""`benchmarks/results` has the newest result of each kind, and the courses that the site draws."""

import json
import re
from pathlib import Path

from scripts.site.charts.results import NODE, RESULTS, SERVER, TESTING

COURSES = {SERVER, TESTING, NODE}
"""Kinds whose earlier results the charts show."""
FILE = re.compile(r"(?:(?P<kind>[a-z-]+)-)?(?P<time>\d{4}-\d{2}-\d{2}T\d{4})\.json\Z")


def superseded(folder: Path) -> list[str]:
    """Return the files of which newer ones of the same kind have all figures."""
    found, newer = [], dict[str, set[str]]()
    for path in sorted(folder.glob("*.json"), key=lambda each: each.stem[-15:], reverse=True):
        match = FILE.match(path.name)
        assert match is not None, path.name
        kind, figures = match["kind"] or "", set(json.loads(path.read_text())["figures"])
        if kind not in COURSES and figures <= newer.get(kind, set()):
            found.append(path.name)
        newer.setdefault(kind, set()).update(figures)
    return found


def test_superseded_results_are_removed() -> None:
    assert superseded(RESULTS) == []


def test_a_result_is_superseded_if_newer_ones_have_its_figures(tmp_path: Path) -> None:
    for name, figures in (("etcd-2026-01-01T0000", ["a"]), ("etcd-2026-01-02T0000", ["a", "b"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"figures": dict.fromkeys(figures, 1)}))
    assert superseded(tmp_path) == ["etcd-2026-01-01T0000.json"]
