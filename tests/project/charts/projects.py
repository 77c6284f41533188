"""Projects with everything that a bundle can have, for tests of its formats."""

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.project.bundle.objects import OperatorObjects, operator_objects
from sampan.project.bundle.settings import bundle_settings
from sampan.project.pyproject import project_at

IMAGE: Final = "registry.example.com:5000/team/boats:0.1.0"
NAMESPACE: Final = "boats-system"
BUNDLE: Final = """
[tool.sampan.bundle]
replicas = 2
priority-class = "system-cluster-critical"
env = {MODE = "on", HARBOUR = "123"}

[[tool.sampan.patches]]
kind = "Deployment"
merge = {metadata = {annotations = {"example.com/by" = "a@b {{ c }}"}}}
"""
"""Settings with values that YAML and Helm could misread."""
OWN_METRICS: Final = """\
    add_parts(manager, boats)
    Counter("boats_launched", "Boats that were launched", registry=manager.registry).inc(0)
    Gauge("boats_afloat", "Boats that float", registry=manager.registry).set(1)
    Histogram("boats_voyage_seconds", "Time of a voyage", registry=manager.registry)
"""


def sampan(folder: Path, *arguments: str) -> None:
    """Run a command that has to succeed in a folder."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(cli, list(arguments), standalone_mode=False)
    assert result.exception is None, result.output
    assert not result.return_value, result.output


def make_boats(root: Path, settings: str = BUNDLE) -> Path:
    """Create a project with a kind of two versions, webhooks, a conversion and metrics."""
    project = make_simple_boats(root, "v1alpha1", settings)
    sampan(project, "create", "webhook", "--kind", "Boat")
    sampan(project, "create", "conversion", "--kind", "Boat", "--from", "v1alpha1", "--to", "v1")
    operator = "src/boats/app.py"
    imported = "from prometheus_client import Counter, Gauge, Histogram\nfrom sampan.operator"
    edit(project, operator, "from sampan.operator", imported)
    edit(project, operator, "    add_parts(manager, boats)\n", OWN_METRICS)
    return project


def make_simple_boats(root: Path, version: str = "v1", settings: str = "", group: str = "boats.example.com") -> Path:
    """Create a project with one kind and its controller."""
    sampan(root, "init", "boats", "--group", group)
    project = root / "boats"
    sampan(project, "create", "api", "--kind", "Boat", "--version", version, "--field", "length:int>0")
    place = project / "pyproject.toml"
    place.write_text(place.read_text() + settings)
    return project


def require_visible_python() -> None:
    """Skip the test if the Pods of process nodes, which have another /tmp, do not see this Python."""
    if Path(sys.prefix).is_relative_to("/tmp"):
        pytest.skip(f"{sys.prefix} is below /tmp, which Pods of process nodes do not see: use a checkout elsewhere")


def edit(project: Path, path: str, old: str, new: str) -> None:
    """Replace a text in a file of a project."""
    place = project / path
    text = place.read_text()
    assert old in text, text
    place.write_text(text.replace(old, new))


def objects_of(project: Path, **changes: Any) -> OperatorObjects:
    """Return the objects of a project, whose code is imported again. `changes`: other settings, with `_` for `-`."""
    given = {"image": IMAGE} | {key.replace("_", "-"): value for key, value in changes.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
            del sys.modules[name]
        return operator_objects(bundle_settings(project_at(project), given))


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files by their path to a folder, and return it."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
