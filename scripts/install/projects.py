"""Distributions of this repository, and their requirements."""

import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
SERVER: Final = ROOT
OPERATOR: Final = ROOT / "packaging" / "operator"
DOCS: Final = ROOT / "packaging" / "docs"
_NOT_FOR_USERS: Final = frozenset({"dev", "docs"})


def requirements(project: Path) -> list[str]:
    """Return what a distribution requires by default."""
    found: list[str] = _declared(project)["dependencies"]
    return found


def extras(project: Path) -> dict[str, list[str]]:
    """Return the extras for users, with their requirements."""
    found: dict[str, list[str]] = _declared(project).get("optional-dependencies", {})
    return {name: needed for name, needed in found.items() if name not in _NOT_FOR_USERS}


def _declared(project: Path) -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    return declared
