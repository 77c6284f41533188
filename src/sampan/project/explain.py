"""`explanations`: owner and purpose of each file of a project."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sampan.project.organisation import rendered
from sampan.project.units import BASE, read_units

_LEFT_OUT: Final = frozenset([".git", ".venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", "dist"])
_FILES_MAX: Final = 5000


def explanations(root: Path) -> list[tuple[str, str, str]]:
    """Return path, owner (`you`, `sampan`) and reason of each file. Raises `ProjectError`."""
    reasons: dict[str, str] = {}
    for unit in read_units(root):
        why = {path: file.why for path, file in rendered(unit.command, unit.inputs).items()}
        reasons |= {path: why.get(path, "an earlier version of Sampan wrote it") for path in unit.files}
    found = []
    for path in _files(root):
        if path.startswith(f"{BASE.as_posix()}/"):
            found.append((path, "sampan", "what a command wrote, for sampan upgrade: do not change it"))
        elif path.startswith(".sampan/run/"):
            found.append((path, "sampan", "credentials of a running sampan run: not for git"))
        else:
            found.append((path, "you", reasons.get(path, "a file of your own; Sampan never touches it")))
    return found


def _files(root: Path) -> Iterator[str]:
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in _LEFT_OUT and not each.endswith(".egg-info"))
        for name in sorted(names):
            count += 1
            if count > _FILES_MAX:
                return
            yield (Path(folder) / name).relative_to(root).as_posix()
