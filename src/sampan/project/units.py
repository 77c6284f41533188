"""`Unit`: what one command wrote into a project, kept in `.sampan/base/` for later upgrades.

Each command has a separate file there, with its inputs and the pristine texts. So two branches that each add a kind can
be merged. An upgrade needs neither the network nor the version of Sampan that wrote the files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sampan
from sampan.project.errors import ProjectError
from sampan.project.templates.text import SCAFFOLD, Files

BASE: Final = Path(".sampan", "base")
_UNIT_BYTES_MAX: Final = 4 << 20

Render = Callable[[Mapping[str, Any]], Files]


@dataclass(frozen=True, slots=True)
class Unit:
    """A command with its inputs, and the texts that it wrote."""

    name: str
    """Name of its file: `init`, `api-boat`."""
    command: str
    inputs: Mapping[str, Any]
    files: Mapping[str, str]
    """Pristine texts by path."""
    scaffold: int = SCAFFOLD
    """Version of the templates."""

    @property
    def place(self) -> Path:
        """Path of its file in the project."""
        return BASE / f"{self.name}.json"

    def encode(self) -> str:
        """Return the content of its file."""
        content = {
            "sampan": sampan.__version__,
            "scaffold": self.scaffold,
            "command": self.command,
            "inputs": self.inputs,
            "files": self.files,
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def texts(files: Files) -> dict[str, str]:
    """Return the texts of files by path."""
    return {path: each.text for path, each in files.items()}


def read_units(root: Path, newest: int = SCAFFOLD) -> list[Unit]:
    """Return the units of a project, `init` first. Raises `ProjectError` for a broken or newer file."""
    places = sorted((root / BASE).glob("*.json"))
    return sorted((read_unit(each, newest) for each in places), key=lambda each: (each.command != "init", each.name))


def read_unit(place: Path, newest: int = SCAFFOLD) -> Unit:
    """Read one unit. Raises `ProjectError`. `newest` is the newest version of templates that is understood."""
    try:
        if place.stat().st_size > _UNIT_BYTES_MAX:
            raise ValueError(f"it has more than {_UNIT_BYTES_MAX} bytes")
        content = json.loads(place.read_text())
        unit = Unit(place.stem, content["command"], content["inputs"], content["files"], content["scaffold"])
        _check_types(unit)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProjectError(f"{place} is broken ({error}): restore it from version control") from error
    if unit.scaffold > newest:
        version, own = content.get("sampan", "?"), sampan.__version__
        raise ProjectError(
            f"{place} is of Sampan {version} with scaffold {unit.scaffold}, but this is {own} with {newest}: "
            "install a newer Sampan"
        )
    return unit


def _check_types(unit: Unit) -> None:
    if not isinstance(unit.scaffold, int) or not isinstance(unit.inputs, dict) or not isinstance(unit.files, dict):
        raise ValueError("scaffold, inputs or files have another type")
    for path, text in unit.files.items():
        if not isinstance(text, str) or path.startswith("/") or ".." in Path(path).parts:
            raise ValueError(f"{path!r} is no path in the project")


def owners(units: Sequence[Unit]) -> dict[str, Unit]:
    """Return the unit that wrote each path."""
    return {path: unit for unit in units for path in unit.files}
