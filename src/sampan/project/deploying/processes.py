"""An operator on process nodes: the Python of this machine, and a copy of the project's package.

Such nodes pull no images. So the Pod runs the Python of the environment that calls `sampan deploy`. It has a copy of
the package, in a folder whose name is a digest. A changed file starts a new Pod, and does not change a running one.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from sampan.project.deploying.inventory import kind_of
from sampan.project.deploying.stages import DEPLOYMENT, NAMESPACE
from sampan.project.errors import ProjectError
from sampan.project.pyproject import Settings
from sampan.resource import Object

_HIDDEN: Final = Path("/tmp")
_POD_SECURITY: Final = "pod-security.kubernetes.io/"


def copy_package(project: Settings, cache: Path) -> Path:
    """Copy the package to a folder for this content, unless it is there, and return that folder.

    Raises `ProjectError` if Pods could not see it, or the Python of this environment.
    """
    package = project.source / project.package
    if not package.is_dir():
        raise ProjectError(f"{package} is missing: tool.sampan.package names the import package of the project")
    target = cache / f"{project.package}-{_digest(package)}"
    for path in (Path(sys.prefix), target):
        if path.resolve().is_relative_to(_HIDDEN):
            raise ProjectError(
                f"{path} is below {_HIDDEN}, which Pods of process nodes do not see: use an environment elsewhere, or "
                "set XDG_CACHE_HOME"
            )
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        # Only a complete copy gets the name, also if two commands run at once.
        copy = Path(folder, "copy")
        shutil.copytree(package, copy / project.package, ignore=shutil.ignore_patterns("__pycache__"))
        try:
            os.rename(copy, target)
        except OSError:
            if not target.exists():
                raise
    return target


def _digest(package: Path) -> str:
    """Return a digest of the package's files, of the Python, and of the versions of all installed distributions."""
    found = hashlib.sha256(sys.executable.encode())
    for name in sorted(f"{each.name} {each.version}" for each in distributions()):
        found.update(name.encode() + b"\0")
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def as_processes(objects: Sequence[Object], folder: Path) -> list[Object]:
    """Return the objects of an operator for process nodes. `folder`: that of `copy_package`."""
    changes = {DEPLOYMENT: lambda obj: _deployment(obj, folder), NAMESPACE: _namespace}
    return [changes.get(kind_of(obj), lambda same: same)(obj) for obj in objects]


def _deployment(obj: Object, folder: Path) -> Object:
    """Let the Pod run this machine's Python as the present user, one at a time: Pods share the machine's ports."""
    spec = obj["spec"]
    pod: dict[str, Any] = spec["template"]["spec"]
    security = dict(pod.get("securityContext") or {})
    if os.getuid():
        security |= {"runAsUser": os.getuid(), "runAsGroup": os.getgid()}
    else:
        security.pop("runAsNonRoot", None)
    containers = [_container(each, folder) for each in pod["containers"]]
    template = {**spec["template"], "spec": {**pod, "securityContext": security, "containers": containers}}
    return {**obj, "spec": {**spec, "replicas": 1, "strategy": {"type": "Recreate"}, "template": template}}


def _container(container: Object, folder: Path) -> Object:
    program, *arguments = container.get("command") or ["python3"]
    if program != "python3":
        return container
    environment = [
        *(container.get("env") or []),
        {"name": "PYTHONPATH", "value": str(folder)},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        {"name": "PYTHONUNBUFFERED", "value": "1"},
    ]
    return {**container, "command": [sys.executable, *arguments], "env": environment}


def _namespace(obj: Object) -> Object:
    """Leave out Pod Security for root, whose processes run as root here."""
    if os.getuid():
        return obj
    labels = obj["metadata"].get("labels") or {}
    left = {name: value for name, value in labels.items() if not name.startswith(_POD_SECURITY)}
    return {**obj, "metadata": {**obj["metadata"], "labels": left}}
