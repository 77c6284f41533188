"""`sampan create`: adds the files of a part to a project. No file that exists is changed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sampan.project.errors import ProjectError
from sampan.project.fields import parse_fields
from sampan.project.names import check_group, check_kind, check_version, module_of
from sampan.project.organisation import rendered
from sampan.project.pyproject import Settings
from sampan.project.units import Unit, read_units, texts
from sampan.project.writing import FileEffect, ProjectChange


def layout(settings: Settings) -> dict[str, Any]:
    """Return the inputs that all parts of a project share."""
    template = next((each.inputs.get("template", "") for each in read_units(settings.root) if each.name == "init"), "")
    flat = settings.source == settings.root
    return {"package": settings.package, "flat": flat, "template": template}


def api_inputs(
    settings: Settings,
    kind: str,
    *,
    group: str = "",
    version: str = "v1",
    namespaced: bool = True,
    fields: Sequence[str] = (),
    controller: bool = True,
) -> dict[str, Any]:
    """Return the inputs of a new kind. Raises `ProjectError` for an invalid option."""
    parse_fields(fields)
    return {
        **layout(settings),
        "kind": check_kind(kind),
        "group": check_group(group or settings.group),
        "version": check_version(version),
        "namespaced": namespaced,
        "fields": list(fields),
        "controller": controller,
    }


def part_change(root: Path, command: str, inputs: Mapping[str, Any], *, force: bool = False) -> ProjectChange:
    """Return the files of a part. Raises `ProjectError` if the project has this part with other inputs."""
    module = module_of(inputs["kind"])
    name = f"{command}-{module}" + (f"-{inputs['to']}" if "to" in inputs else "")
    files = rendered(command, inputs)
    unit = Unit(name.replace("_", "-"), command, dict(inputs), texts(files))
    known = {each.name: each for each in read_units(root)}
    before = known.get(unit.name)
    if before is not None and dict(before.inputs) != unit.inputs and not force:
        raise ProjectError(
            f"the project has {command} {inputs['kind']} already, with other options: remove it with "
            f"sampan delete api --kind {inputs['kind']}, or choose another kind"
        )
    _check_new_module(root, known, unit, inputs)
    change = ProjectChange(root)
    for path, file in files.items():
        change.put(path, file.text, optional=file.optional, force=force)
    if before is None or before.files != unit.files or before.inputs != unit.inputs:
        change.hidden[unit.place.as_posix()] = unit.encode()
    return change


def _check_new_module(root: Path, known: Mapping[str, Unit], unit: Unit, inputs: Mapping[str, Any]) -> None:
    """Refuse a kind whose modules another kind has, or that the user wrote. Raises `ProjectError`."""
    for other in known.values():
        shared = sorted(set(unit.files) & set(other.files)) if other.name != unit.name else []
        if shared and any(unit.files[path] != other.files[path] for path in shared):
            raise ProjectError(
                f"{inputs['kind']} would have the file {shared[0]}, as {other.inputs.get('kind', other.name)} has: "
                "choose another kind"
            )


def summary(change: ProjectChange) -> list[str]:
    """Return a line for each file: what happens, and the path."""
    width = max(len(each) for each in FileEffect)
    return [f"{outcome:>{width}}  {path}" for path, outcome in change.outcomes.items()]


def kind_unit(settings: Settings, kind: str) -> Unit:
    """Return the unit of a kind of the project. Raises `ProjectError` with the kinds that there are."""
    units = [each for each in read_units(settings.root) if each.command == "api"]
    found = next((each for each in units if each.inputs["kind"] == kind), None)
    if found is None:
        known = ", ".join(each.inputs["kind"] for each in units) or "none yet"
        raise ProjectError(f"the project has no kind {kind} of sampan create api; its kinds: {known}")
    return found


def webhook_inputs(settings: Settings, kind: str, *, defaulting: bool, validation: bool) -> dict[str, Any]:
    """Return the inputs of webhooks; without a choice, of both. Raises `ProjectError`."""
    both = not (defaulting or validation)
    inputs = dict(kind_unit(settings, kind).inputs)
    return {**inputs, "defaulting": defaulting or both, "validation": validation or both}


def conversion_inputs(settings: Settings, kind: str, before: str, to: str) -> dict[str, Any]:
    """Return the inputs of a conversion between two versions. Raises `ProjectError`."""
    inputs = dict(kind_unit(settings, kind).inputs)
    if inputs["version"] != before:
        raise ProjectError(f"--from {before}: {kind} has the version {inputs['version']}")
    if check_version(to) == before:
        raise ProjectError(f"--to {to}: this is the version that {kind} has already")
    return {**inputs, "to": to}
