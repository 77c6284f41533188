"""`load_code`: imports the package of a project, again after each change; and the state of its files."""

import importlib
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sampan.generate.declared import EXTERNAL, own_kinds
from sampan.operator import Manager, modules_below
from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE, Settings

WEBHOOKS: Final = "webhooks"
"""Subpackage with the webhook server of an operator."""
_FILES_MAX: Final = 20_000

State = dict[str, tuple[int, int]]
"""Time of the last change and size of each file."""


@dataclass(frozen=True, slots=True)
class OperatorCode:
    """The operator as its files are now."""

    set_up: Callable[[Manager], Any]
    kinds: tuple[type[Any], ...]
    """Kinds that the package declares."""
    external: tuple[type[Any], ...]
    """Kinds of other operators, of which the package has only the types."""
    webhooks: bool
    """True if the package has webhooks, and they were left out."""


def load_code(settings: Settings, *, webhooks: bool) -> OperatorCode:
    """Import the package as it is on disk. Without `webhooks`, the webhook server is left out.

    Raises `ProjectError` with the file and line of a fault. Then the modules that were imported before stay.
    """
    source = str(settings.source)
    if source not in sys.path:
        sys.path.insert(0, source)
    linecache.checkcache()
    with _fresh(settings.package):
        try:
            main = importlib.import_module(_entry(settings))
            set_up = main.set_up
            modules = list(modules_below(importlib.import_module(settings.package)))
        except (Exception, SystemExit) as error:
            raise ProjectError(error_line(error, settings.source)) from error
    left_out = False
    for module in modules:
        if not webhooks and module.__name__ == f"{settings.package}.{WEBHOOKS}" and hasattr(module, "set_up"):
            # `add_parts` calls only functions that a module defines itself.
            module.set_up = _nothing  # type: ignore[attr-defined]  # a module of the user
            left_out = True
    own, external = _kinds(modules, settings.package)
    return OperatorCode(set_up, own, external, left_out)


def _entry(settings: Settings) -> str:
    """Return the module with the function `set_up` of the whole operator."""
    older = settings.source / settings.package / "operator.py"
    return f"{settings.package}.{'operator' if older.is_file() else 'app'}"


def _nothing(manager: Manager) -> None:
    """Add nothing."""


def _kinds(modules: list[ModuleType], package: str) -> tuple[tuple[type[Any], ...], tuple[type[Any], ...]]:
    found: dict[bool, list[type[Any]]] = {False: [], True: []}
    for module in modules:
        found[bool(getattr(module, EXTERNAL, False))] += own_kinds(module)
    return tuple(found[False]), tuple(found[True])


@contextmanager
def _fresh(package: str) -> Iterator[None]:
    """Import the package again in the block; restore its modules if the block fails.

    No bytecode is written, because a file that changes twice in a second could then be loaded from the older one.
    """
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == package}
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    for name in before:
        del sys.modules[name]
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        for name in [each for each in sys.modules if each.split(".")[0] == package]:
            del sys.modules[name]
        sys.modules.update(before)
        raise
    finally:
        sys.dont_write_bytecode = written


def error_line(error: BaseException, source: Path) -> str:
    """Return the error with the last place in the project."""
    place = ""
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}"
    else:
        frames = [
            each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).is_relative_to(source)
        ]
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(source)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}: {type(error).__name__}: {text}"


def state_of(settings: Settings) -> State:
    """Return the state of all files that the operator depends on: its modules, samples and pyproject.toml."""
    found: State = {}
    for path in _watched(settings):
        try:
            status = os.stat(path)
        except OSError:
            continue  # removed meanwhile
        found[str(path)] = (status.st_mtime_ns, status.st_size)
        if len(found) >= _FILES_MAX:
            break
    return found


def _watched(settings: Settings) -> Iterator[Path]:
    yield settings.root / FILE
    yield from samples_of(settings)
    for folder, folders, names in os.walk(settings.source / settings.package):
        folders[:] = [each for each in folders if each != "__pycache__"]
        yield from (Path(folder) / name for name in names if name.endswith(".py"))


def samples_of(settings: Settings) -> list[Path]:
    """Return the files of samples."""
    folder = settings.root / "samples"
    return sorted(path for pattern in ("*.yaml", "*.yml", "*.json") for path in folder.glob(pattern))
