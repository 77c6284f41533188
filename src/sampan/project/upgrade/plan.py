"""`plan_upgrade`: what an upgrade would do to each file. Nothing is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sampan.core.json.values import same
from sampan.project.errors import ProjectError
from sampan.project.organisation import rendered
from sampan.project.templates.text import SCAFFOLD, Files
from sampan.project.units import Unit, read_units, texts
from sampan.project.upgrade.merge import merge
from sampan.project.upgrade.migrations import MIGRATIONS, Migration
from sampan.project.writing import FileEffect, ProjectChange


@dataclass(frozen=True, slots=True)
class NewVersion:
    """Templates and steps of a version."""

    scaffold: int = SCAFFOLD
    rendered: Callable[[str, Mapping[str, Any]], Files] = rendered
    migrations: Sequence[Migration] = MIGRATIONS


@dataclass(slots=True)
class Upgrade:
    """Files that an upgrade writes, and notes for the user."""

    change: ProjectChange
    conflicts: list[str] = field(default_factory=list)
    """Files with conflict markers."""
    notes: list[str] = field(default_factory=list)

    @property
    def pending(self) -> bool:
        """True if the templates differ from what the project was written with."""
        return bool(self.change.hidden)


def plan_upgrade(root: Path, restored: Sequence[str] = (), version: NewVersion = NewVersion()) -> Upgrade:
    """Return the upgrade of a project. `restored` are deleted files that come back. Raises `ProjectError`."""
    units = read_units(root, version.scaffold)
    if not units:
        raise ProjectError(f"{root} has no .sampan/base, so it was not written by sampan init")
    upgrade = Upgrade(ProjectChange(root))
    known = {path for unit in units for path in unit.files}
    for path in restored:
        if path not in known:
            raise ProjectError(f"--restore {path}: no command wrote this file")
    for unit in units:
        _plan_unit(upgrade, unit, set(restored), version)
    return upgrade


def _plan_unit(upgrade: Upgrade, unit: Unit, restored: set[str], version: NewVersion) -> None:
    new = texts(version.rendered(unit.command, unit.inputs))
    steps = [each for each in version.migrations if unit.scaffold < each.to <= version.scaffold]
    renames: dict[str, str] = {}
    for step in steps:
        renames = {old: dict(step.renames(unit.inputs)).get(now, now) for old, now in renames.items()} | {
            old: now for old, now in step.renames(unit.inputs).items() if old in unit.files and old not in renames
        }
        upgrade.notes.append(step.title)
    places = {renames.get(path, path): path for path in unit.files}
    for path in dict.fromkeys([*new, *places]):
        old = places.get(path)
        base = None if old is None else _rewritten(path, unit.files[old], steps)
        _plan_file(upgrade, path, old, base, new.get(path), steps, restore=bool({path, old} & restored))
    if not same(new, unit.files) or unit.scaffold != version.scaffold:
        after = Unit(unit.name, unit.command, unit.inputs, new, version.scaffold)
        upgrade.change.hidden[after.place.as_posix()] = after.encode()


def _rewritten(path: str, text: str, steps: Sequence[Migration]) -> str:
    for step in steps:
        text = step.rewrite(path, text)
    return text


def _plan_file(
    upgrade: Upgrade,
    path: str,
    old: str | None,
    base: str | None,
    new: str | None,
    steps: Sequence[Migration],
    *,
    restore: bool,
) -> None:
    """Plan one file. `old` is its path before the upgrade; `base` and `new` are the pristine texts, None: no file."""
    change = upgrade.change
    present = None if old is None else change.read(old)
    if present is None and old is not None and change.read(path) is not None:
        present = change.read(path)  # the user has renamed it already
        old = path
    if old is None or base is None:
        if new is not None:
            _add(upgrade, path, new)
        return
    if present is None:
        if restore and new is not None:
            change.replace(path, new)
        elif new is not None:
            upgrade.notes.append(f"{path} was deleted, and stays deleted; --restore {path} brings it back")
        return
    yours = _rewritten(path, present, steps)
    if new is None:
        _drop(upgrade, old, pristine=yours == base)
        return
    merged = merge(base, yours, new)
    if old != path:
        change.remove(old)
        change.replace(path, merged.text)
    elif merged.text != present:
        change.replace(path, merged.text)
    if merged.conflicts:
        upgrade.conflicts.append(path)


def _add(upgrade: Upgrade, path: str, new: str) -> None:
    """Add a file that earlier versions did not have. One of the user with this name is merged with it."""
    present = upgrade.change.read(path)
    if present is None or present == new:
        if present is None:
            upgrade.change.replace(path, new)
        return
    merged = merge("", present, new)
    upgrade.change.replace(path, merged.text)
    upgrade.conflicts += [path] if merged.conflicts else []


def _drop(upgrade: Upgrade, path: str, *, pristine: bool) -> None:
    """Remove a file that the new version does not have, unless the user has changed it."""
    if pristine:
        upgrade.change.remove(path)
    else:
        upgrade.change.mark(path, FileEffect.SKIP)
        upgrade.notes.append(f"{path} is not needed any more; it stays, because you have changed it")
