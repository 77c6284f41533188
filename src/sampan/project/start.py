"""`sampan init`: a new project, or what an existing package needs to be one."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import sampan
from sampan.project.errors import ProjectError
from sampan.project.names import check_group, check_project_name
from sampan.project.organisation import rendered
from sampan.project.pyproject import FILE, parse, with_tables
from sampan.project.templates.new_project import tool_tables
from sampan.project.units import BASE, Unit, read_unit, texts
from sampan.project.writing import ProjectChange

CI: Final = ("github", "gitlab", "none")
_PYTHON: Final = re.compile(r"3\.(1[1-9]|2[0-9])")
_LICENSE: Final = re.compile(r"[A-Za-z0-9.+-]*")


def init_inputs(
    name: str,
    *,
    group: str = "",
    domain: str = "",
    python: str = "3.11",
    license: str = "",
    ci: str = "none",
    wheels: Path | None = None,
    template: str = "",
) -> dict[str, Any]:
    """Return the inputs from the options of the command line. Raises `ProjectError` for an invalid one."""
    package = check_project_name(name)
    group = check_group(group or f"{name}.{domain or 'example.com'}")
    if not _PYTHON.fullmatch(python):
        raise ProjectError(f"--python {python}: Sampan needs 3.11 or later, for example 3.12")
    if not _LICENSE.fullmatch(license):
        raise ProjectError(f"--license {license}: use an identifier of SPDX, such as Apache-2.0")
    requirement, links = f"sampan>={sampan.__version__}", ""
    if wheels is not None:
        found = sorted(wheels.glob("sampan-*.whl"))
        if not found:
            raise ProjectError(f"--sampan-wheels {wheels}: no sampan-*.whl is there; make it with make release")
        requirement = f"sampan=={found[-1].name.split('-')[1]}"
        links = str(wheels.resolve())
        if re.search(r'["\\\s]', links):
            raise ProjectError(f"--sampan-wheels {links}: use a path without spaces and quotes")
    return {
        "name": name,
        "package": package,
        "group": group,
        "python": python,
        "license": license,
        "ci": ci,
        "requirement": requirement,
        "wheels": links,
        "template": template,
    }


def init_change(root: Path, inputs: Mapping[str, Any], *, force: bool = False) -> ProjectChange:
    """Return the files of a new project in `root`. Raises `ProjectError`."""
    change = ProjectChange(root)
    files = rendered("init", inputs)
    for path, file in files.items():
        change.put(path, file.text, optional=file.optional, force=force)
    _record(change, Unit("init", "init", inputs, texts(files)))
    return change


def here_change(root: Path, inputs: Mapping[str, Any]) -> ProjectChange:
    """Return what the package in `root` lacks. Files that exist stay; pyproject.toml gets the missing tables."""
    inputs = {**inputs, "here": (root / FILE).is_file(), "flat": is_flat(root, inputs["package"])}
    change = ProjectChange(root)
    present = change.read(FILE)
    if present is not None:
        text = with_tables(present, tool_tables(inputs), inputs["requirement"], root / FILE)
        change.replace(FILE, text)
    files = rendered("init", inputs)
    for path, file in files.items():
        change.put(path, file.text, optional=True)
    _record(change, Unit("init", "init", inputs, texts(files)))
    return change


def is_flat(root: Path, package: str) -> bool:
    """Return True if the import package is directly in the folder of the project, not in `src`."""
    return (root / package).is_dir() and not (root / "src" / package).is_dir()


def name_here(root: Path) -> str:
    """Return the name of the project in a folder: that of pyproject.toml, or else of the folder."""
    place = root / FILE
    if place.is_file():
        name = parse(place.read_text(), place).get("project", {}).get("name")
        if isinstance(name, str):
            return name.lower().replace("_", "-")
    return root.name.lower().replace("_", "-")


def _record(change: ProjectChange, unit: Unit) -> None:
    """Keep the pristine texts, unless this version has kept the same ones."""
    place = change.root / BASE / f"{unit.name}.json"
    if place.exists() and (read_unit(place).files, read_unit(place).scaffold) == (unit.files, unit.scaffold):
        return
    change.hidden[unit.place.as_posix()] = unit.encode()
