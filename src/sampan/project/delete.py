"""Removes what the commands wrote for a kind, if it has no changes of the user and no module imports it."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from sampan.client import Client, ListOptions, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.project.errors import ProjectError
from sampan.project.names import module_of
from sampan.project.pyproject import Settings
from sampan.project.units import Unit, read_units
from sampan.project.writing import ProjectChange
from sampan.resource import ResourceInfo
from sampan.resource.declare import plural_of

_SHOWN_MAX = 20
_CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)


def delete_change(settings: Settings, kind: str, *, force: bool = False) -> ProjectChange:
    """Return the removal of a kind with its webhooks, conversions and controller.

    Raises `ProjectError` for an unknown kind. Without `force`, it raises it with a list of edited files and of
    references from other modules.
    """
    units = read_units(settings.root)
    own = units_of(units, kind)
    needed = {path for unit in units if unit not in own for path in unit.files}
    change = ProjectChange(settings.root)
    paths = list(dict.fromkeys(path for unit in own for path in unit.files if path not in needed))
    present = {path: text for path in paths if (text := change.read(path)) is not None}
    pristine = {path: text for unit in own for path, text in unit.files.items()}
    if not force:
        faults = [f"{path} has your changes" for path, text in present.items() if text != pristine[path]]
        faults += [f"{path}: a file of your own" for path in _own_files(settings, kind, paths)]
        faults += references(settings, kind, paths)
        if faults:
            lines = "".join(f"\n  {each}" for each in faults[:_SHOWN_MAX])
            raise ProjectError(f"{kind} is still in use; remove this first, or use --force:{lines}")
    for path in present:
        change.remove(path)
    for unit in own:
        change.remove(unit.place.as_posix())
    return change


def units_of(units: Sequence[Unit], kind: str) -> list[Unit]:
    """Return what the commands wrote for a kind. Raises `ProjectError` for an unknown kind."""
    found = [each for each in units if each.inputs.get("kind") == kind]
    if not found:
        known = ", ".join(sorted({each.inputs["kind"] for each in units if "kind" in each.inputs})) or "none"
        raise ProjectError(f"the project has no kind {kind}; its kinds: {known}")
    return found


def _own_files(settings: Settings, kind: str, paths: Sequence[str]) -> list[str]:
    """Return the files next to those of the kind that no command wrote."""
    folder = settings.source / settings.package / module_of(kind)
    files = (each for each in sorted(folder.rglob("*")) if each.is_file() and "__pycache__" not in each.parts)
    return [name for each in files if (name := each.relative_to(settings.root).as_posix()) not in paths]


def references(settings: Settings, kind: str, paths: Sequence[str]) -> list[str]:
    """Return the imports of the kind's package in other modules, with their lines."""
    package = f"{settings.package}.{module_of(kind)}"
    found = []
    for folder in (settings.source / settings.package, settings.root / "tests"):
        for place in sorted(folder.rglob("*.py")):
            name = place.relative_to(settings.root).as_posix()
            if name not in paths:
                found += [f"{name}:{line} imports {package}" for line in _imports(place, package)]
    return found


def _imports(place: Path, package: str) -> Iterator[int]:
    try:
        parsed = ast.parse(place.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    above, _, last = package.rpartition(".")
    for node in ast.walk(parsed):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module]
            if node.module == above and any(each.name == last for each in node.names):
                names.append(package)
        if any(name == package or name.startswith(f"{package}.") for name in names):
            yield getattr(node, "lineno", 0)


async def left_on_cluster(client: Client, unit: Unit) -> str:
    """Return what a cluster still has of a kind, as a sentence; empty if it has nothing."""
    inputs = unit.inputs
    resource = inputs.get("resource") or plural_of(inputs["kind"])
    name = f"{resource}.{inputs['group']}"
    try:
        await client.resource(_CRDS).get(name)
    except NotFound:
        return ""
    info = ResourceInfo(
        GroupVersionResource(inputs["group"], inputs["version"], resource), inputs["kind"], inputs["namespaced"]
    )
    try:
        page = await client.resource(info, namespace="").list(ListOptions(limit=1))
    except NotFound:
        return f"the cluster still has the CRD {name}: kubectl delete crd {name}"
    count = len(page.items) + (page.remaining or 0)
    return f"the cluster still has the CRD {name} with {count} objects: kubectl delete crd {name} deletes all of them"
