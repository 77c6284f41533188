"""Imports of the server in a run of pytest: from compiled files, and without garbage collections."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

FLAGS = ("-p", "no:cacheprovider", "-p", "no:asyncio")
ROOT = Path(__file__).parents[3]
TEST = """
import gc, sys
{imports}

async def test_box(cluster):
    assert await cluster.get("ns/default")
    rewritten = {{
        name for name, module in sys.modules.items()
        if name.startswith("sampan.") and type(module.__loader__).__name__ == "AssertionRewritingHook"
    }}
    assert rewritten <= {{"sampan.pytest_plugin"}}
    assert gc.isenabled()
    assert gc.get_freeze_count() > 50_000
"""


def _installed(directory: Path) -> None:
    """Add the metadata of an installed wheel, which list the files of the package."""
    found = importlib.metadata.distribution("sampan")
    info = directory / "sampan-0.2.0.dist-info"
    info.mkdir()
    for name in ("METADATA", "entry_points.txt"):
        (info / name).write_text(found.read_text(name) or "")
    (info / "RECORD").write_text("sampan/__init__.py,,\nsampan/pytest_plugin.py,,\nsampan/core/__init__.py,,\n")


@pytest.mark.parametrize("install", ["editable", "wheel"])
@pytest.mark.parametrize(
    "imports",
    ["", "from sampan.testing import Cluster", "import sampan.server.verbs.get\nfrom sampan.testing import Cluster"],
    ids=["by-fixture", "by-module", "parts-first"],
)
def test_no_module_of_the_server_is_rewritten(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, install: str, imports: str
) -> None:
    if install == "wheel":
        _installed(pytester.path)
        monkeypatch.setenv("PYTHONPATH", f"{pytester.path}:{ROOT / 'src'}")
    pytester.makeconftest("import sampan.client")
    pytester.makepyfile(TEST.format(imports=imports))
    result = pytester.runpytest_subprocess(*FLAGS)
    result.assert_outcomes(passed=1)


def test_assertions_of_tests_are_still_rewritten(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_sum(cluster):\n    ships = 2\n    assert ships + 1 == 4")
    result = pytester.runpytest_subprocess(*FLAGS)
    result.stdout.fnmatch_lines(["E  *assert (2 + 1) == 4"])


def test_the_finder_ends_with_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_box(cluster):\n    pass")
    code = "import sys, pytest; before = len(sys.meta_path); pytest.main(); print(len(sys.meta_path) - before)"
    result = pytester.run(sys.executable, "-c", code)
    assert result.outlines[-1] == "0"
