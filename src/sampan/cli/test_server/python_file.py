"""Load a Python file of the user, with scenarios or campaigns."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sampan.cli.plain_error import PlainError
from sampan.project.pyproject import find_project

_PREFIX: Final = "_sampan_loaded_"
"""Begins the name of a loaded file that is in no package, so that it replaces no module of the same name."""


def members_of(file: Path) -> dict[str, Any]:
    """Run a file and return its variables by name.

    It can import modules of its folder, of the working directory, and of the project there. A file of a package can use
    relative imports.
    Raises `PlainError` with the line that fails.
    """
    place = file.resolve()
    root = place.parent
    parts = [place.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    project = find_project(Path.cwd())
    sources = () if project is None else (str(project.source),)
    for folder in (str(Path.cwd()), str(root), *sources):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    try:
        module = importlib.import_module(".".join(parts)) if len(parts) > 1 else _loaded(place)
    except Exception as error:
        raise PlainError(f"error: cannot load {file}{_line(error)}: {type(error).__name__}: {error}") from error
    return dict(vars(module))


def _loaded(place: Path) -> ModuleType:
    name = _PREFIX + place.stem
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ImportError("its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    # Annotations of classes are resolved through sys.modules.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _line(error: Exception) -> str:
    """Return the innermost place in a file that the error names; frames of the import system are no places."""
    found, trace = "", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith("<") and name != __file__ and "/importlib/" not in name:
            found = f", in {name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
