"""Checks of a project: what `sampan ci` runs on a laptop, and what its CI runs for each change.

The list is derived from the project: an image is built only if its packages are locked, for example. Each check is a
command, so that its output is that of the tool.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.core.clock import monotonic
from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE, Settings, parse

LOCK: Final = "pylock.toml"
OUTPUT: Final = "{output}"
"""Word of a command for a folder that is removed afterwards."""
_TOOLS: Final = ("ruff", "mypy", "pytest")
_SAMPAN: Final = "sampan"


@dataclass(frozen=True, slots=True)
class ProjectCheck:
    """A command that must end with exit code 0."""

    name: str
    command: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.command)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Exit code and duration of a check."""

    check: ProjectCheck
    code: int
    duration_s: float


def checks_of(settings: Settings) -> tuple[ProjectCheck, ...]:
    """Return the checks of a project, the quickest first.

    They are style, types, tests with their explorations, and the commands in `ci` of `[tool.sampan]`. Manifests need
    the name of the image, and the image needs `pylock.toml`. Raises `ProjectError` for a broken file.
    """
    found = [
        ProjectCheck("lint", ("ruff", "check", ".")),
        ProjectCheck("format", ("ruff", "format", "--check", ".")),
        ProjectCheck("types", ("mypy",)),
        ProjectCheck("tests", ("pytest",)),
    ]
    if _has_image(settings):
        found.append(ProjectCheck("manifests", (_SAMPAN, "bundle", "--format", "all", "-o", f"{OUTPUT}/dist")))
    if (settings.root / LOCK).is_file():
        found.append(ProjectCheck("image", (_SAMPAN, "build", "--locked", "-o", f"{OUTPUT}/image.tar")))
    found += [ProjectCheck(words[0], words) for words in settings.ci]
    return tuple(found)


def _has_image(settings: Settings) -> bool:
    """Return True if the project has the name of its image, without which it has no manifests."""
    place = settings.root / FILE
    image = parse(place.read_text(), place)["tool"]["sampan"].get("image")
    return isinstance(image, dict) and "name" in image


def chosen(checks: Sequence[ProjectCheck], names: Sequence[str]) -> tuple[ProjectCheck, ...]:
    """Return the checks of these names, all if there are none. Raises `ProjectError` for an unknown name."""
    known = [check.name for check in checks]
    if unknown := [name for name in names if name not in known]:
        raise ProjectError(f"there is no check {unknown[0]!r}: the checks of this project are {', '.join(known)}")
    return tuple(check for check in checks if not names or check.name in names)


def run_checks(
    settings: Settings, checks: Sequence[ProjectCheck], begin: Callable[[ProjectCheck], object]
) -> Iterator[CheckResult]:
    """Run checks one after the other, with their output on this process's. A failed check does not stop further ones.

    Raises `ProjectError` before the first one if a tool is not installed.
    """
    for check in checks:
        _require(check, settings.root)
    with _temporary() as output:
        for check in checks:
            begin(check)
            began = monotonic()
            code = subprocess.run(
                [word.replace(OUTPUT, str(output)) for word in _words(check.command)], cwd=settings.root, check=False
            ).returncode
            yield CheckResult(check, code, monotonic() - began)


def _words(command: tuple[str, ...]) -> list[str]:
    """Return the command; a tool of Python is that of this interpreter, whatever PATH has."""
    module = command[0]
    return [sys.executable, "-m", *command] if module in (*_TOOLS, _SAMPAN) else list(command)


def _require(check: ProjectCheck, root: Path) -> None:
    """Raise `ProjectError` if the program of a check is not installed."""
    program = check.command[0]
    if program in _TOOLS and importlib.util.find_spec(program) is None:
        raise ProjectError(f"{program} is not installed: run pip install -e '.[dev]' in {root}")
    if program not in (*_TOOLS, _SAMPAN) and shutil.which(program) is None:
        raise ProjectError(f"{program} of tool.sampan.ci is not installed")


@contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sampan-ci-", dir=os.environ.get("RUNNER_TEMP")) as folder:
        yield Path(folder)
