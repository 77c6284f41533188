"""The benchmark with very many objects: what it fills stores with, and what it stores of what it found."""

import json
from pathlib import Path

from benchmarks.load import Figure
from benchmarks.scale.fill import Templates, fill
from benchmarks.scale.report import store as stored
from benchmarks.scale.report import text_table
from benchmarks.scale.scenarios import start

from sampan.storage.memory import MemoryStore


async def test_each_template_has_its_share_of_the_objects() -> None:
    store = MemoryStore()
    await store.open()
    of: Templates = [(f"/registry/{name}/", {"kind": name, "apiVersion": "v1", "metadata": {}}) for name in ("a", "b")]
    await fill(store, of, 7)
    counts = [(await store.range(f"/registry/{name}/", f"/registry/{name}0")).count for name in ("a", "b")]
    assert counts == [4, 3]


def test_figures_are_shown_and_stored(tmp_path: Path) -> None:
    figures = {start("sqlite"): Figure(2.5, note="on time")}
    path = stored(figures, {"date": "2026-01-02 03:04 UTC"}, tmp_path)
    assert "| start: SQLite | 2.5 s | 15 s |" in path.read_text()
    assert json.loads((tmp_path / "scale-2026-01-02T0304.json").read_text())["figures"]["start-sqlite"]["value"] == 2.5
    assert "on time" in text_table(figures)
