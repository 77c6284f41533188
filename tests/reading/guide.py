"""Pages of the reading guide: their sections, and the files that they name."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "reading"
PAGES: Final = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")

_ROW: Final = re.compile(r"^\| \[[^\]]+\]\(([^)]+)\) \| (`[^|]+) \|", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A file to open, and the names to look for in it."""

    path: Path
    names: list[str]


def rows_of(page: Path) -> list[Row]:
    """Return the files to open of a page, in order."""
    return [
        Row((page.parent / target).resolve(), re.findall(r"`([^`]+)`", names))
        for target, names in _ROW.findall(page.read_text())
    ]


def defined_in(path: Path) -> set[str]:
    """Return the names that a Python file defines: `function`, `Class`, `Class.method`, `CONSTANT`, `Class.FIELD`."""
    return set(_names(ast.parse(path.read_text()).body, ""))


def _names(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name
            yield from _names(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))
