"""`rendered`: the files of a command, by our own templates and those of an organisation.

A template of an organisation is a Python file with the function `files(command, inputs, files)`. It gets our files as
texts by path, and returns those that the project shall have.
"""

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE
from sampan.project.templates.controller import controller_files
from sampan.project.templates.imported import imported_files
from sampan.project.templates.kind import kind_files
from sampan.project.templates.new_project import new_project_files
from sampan.project.templates.text import Files, FileText
from sampan.project.templates.webhook import conversion_files, webhook_files
from sampan.project.units import Render

COMMANDS: Final[Mapping[str, Render]] = {
    "init": new_project_files,
    "api": kind_files,
    "import": imported_files,
    "webhook": webhook_files,
    "conversion": conversion_files,
    "controller": controller_files,
}
"""Template of each command."""


def rendered(command: str, inputs: Mapping[str, Any]) -> Files:
    """Return the files of a command. Raises `ProjectError` for an unknown command or a broken template."""
    if command not in COMMANDS:
        raise ProjectError(f"this Sampan has no template of the command {command!r}: install a newer one")
    try:
        own = COMMANDS[command](inputs)
    except (KeyError, TypeError) as error:
        raise ProjectError(f"the inputs of {command} are incomplete ({error}): restore .sampan/base") from error
    if inputs.get("flat"):
        own = {path.removeprefix("src/"): file for path, file in own.items()}
    if inputs.get("here"):
        own = {path: file for path, file in own.items() if path != FILE}
    template = inputs.get("template", "")
    return own if not template else _changed(command, inputs, own, Path(template))


def _changed(command: str, inputs: Mapping[str, Any], own: Files, place: Path) -> Files:
    if not place.is_file():
        raise ProjectError(f"the template {place} does not exist")
    try:
        function = runpy.run_path(str(place))["files"]
        result = function(command, dict(inputs), {path: file.text for path, file in own.items()})
        texts = {str(path): str(text) for path, text in dict(result).items()}
    except Exception as error:
        raise ProjectError(f"the template {place} failed: {type(error).__name__}: {error}") from error
    for path in texts:
        if path.startswith("/") or ".." in Path(path).parts:
            raise ProjectError(f"the template {place} returns {path!r}, which is no path in a project")
    why = f"the template {place.name} of your organisation"
    return {path: _as_file(text, own.get(path), why) for path, text in texts.items()}


def _as_file(text: str, own: FileText | None, why: str) -> FileText:
    return own if own is not None and own.text == text else FileText(text, why, own is not None and own.optional)
