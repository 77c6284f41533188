"""The sources of the project, read and parsed once for all tests of style in a process."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
GENERATED = "src/sampan/kinds/"
"""Modules that `make kinds` writes: as long as Kubernetes' groups are, for users too. `tests/kinds` compares them with
the sources.
"""


def name_of(path: Path) -> str:
    """Return the path from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text()


@cache
def parse(text: str) -> ast.Module:
    """Return the syntax tree of a text. Do not change it: other tests share it."""
    return ast.parse(text)
