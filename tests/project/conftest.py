"""Fixtures of projects."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sampan.cli.main import cli

Sampan = Callable[..., Result]


@pytest.fixture
def sampan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sampan:
    """Return a function that runs `sampan` in a folder, by default the empty one of the test."""

    def run(*arguments: str, folder: Path = tmp_path) -> Result:
        monkeypatch.chdir(folder)
        return CliRunner().invoke(cli, list(arguments), standalone_mode=False)

    return run


@pytest.fixture
def boats(tmp_path: Path, sampan: Sampan) -> Path:
    """Return a new project."""
    assert not sampan("init", "boats").return_value
    return tmp_path / "boats"


def tree(root: Path) -> dict[str, str]:
    """Return the texts of all files by path."""
    left_out = {"__pycache__", ".git"}
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and left_out.isdisjoint(path.parts))
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}
