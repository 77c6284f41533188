"""The lock: `pylock.toml` with every wheel and its hash, and the installation of its wheels for any platform.

uv resolves and installs. It follows the user's configuration for package indexes, mirrors and credentials.

Source: packaging.python.org pylock.toml (1.0); docs.astral.sh/uv `uv pip compile`, `uv pip install`.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from sampan.oci.descriptor import Platform
from sampan.project.errors import ProjectError
from sampan.project.image.settings import ImageSettings
from sampan.project.pyproject import parse

_HEADER: Final = "# Written by `sampan build --lock` for the dependencies "
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_URL: Final = re.compile(r'url = "file://([^"]+)"')
_GENERATED: Final = re.compile(r"\A(#[^\n]*\n)+")
_SAMPAN: Final = re.compile(r"\Asampan(?![\w.-])")
_MESSAGE_MAX: Final = 1000


def is_current(settings: ImageSettings) -> bool:
    """Return whether the lock is for the project's present dependencies."""
    try:
        with settings.lock.open() as file:
            return file.readline().strip() == _first_line(settings)
    except FileNotFoundError:
        return False


def write_lock(settings: ImageSettings, python: str, *, upgrade: bool = False) -> None:
    """Resolve the project's dependencies for a version of Python and write the lock.

    Versions in an existing lock stay, unless `upgrade` is set. Raises `ProjectError` if there is no solution.
    """
    draft = settings.lock.with_name("pylock.draft.toml")
    if settings.lock.exists():
        shutil.copyfile(settings.lock, draft)
    command = ["pip", "compile", "-", "--universal", "--format", "pylock.toml", "--only-binary", ":all:"]
    command += ["--python-version", python, "--quiet", "--no-header", "--output-file", str(draft)]
    try:
        command += ["--upgrade"] if upgrade else []
        _uv(settings, command, "the dependencies cannot be locked", "\n".join(_of_image(settings)))
        text = _GENERATED.sub("", draft.read_text())
    finally:
        draft.unlink(missing_ok=True)
    settings.lock.write_text(f"{_first_line(settings)}\n{_with_paths(text, settings.root)}")


def install(settings: ImageSettings, platform: Platform, python: str, target: Path) -> None:
    """Install the locked wheels for a platform into a folder. Raises `ProjectError`, which names a missing wheel."""
    command = ["pip", "install", "--requirements", settings.lock.name, "--target", str(target)]
    command += ["--python-platform", f"{_MACHINES[platform.architecture]}-manylinux_{settings.glibc.replace('.', '_')}"]
    command += ["--python-version", python, "--only-binary", ":all:", "--no-deps", "--require-hashes", "--quiet"]
    _check_local_wheels(settings)
    _uv(settings, command, f"the locked wheels do not fit {platform} with Python {python}")


def _check_local_wheels(settings: ImageSettings) -> None:
    """Check the hashes of wheels in folders, which uv does not check. Raises `ProjectError`."""
    for package in parse(settings.lock.read_text(), settings.lock).get("packages", []):
        for wheel in package.get("wheels", []):
            if "path" not in wheel:
                continue
            place = settings.root / wheel["path"]
            try:
                found = hashlib.sha256(place.read_bytes()).hexdigest()
            except OSError as error:
                raise ProjectError(f"the locked wheel {place} cannot be read: {error.strerror}") from None
            if found != wheel.get("hashes", {}).get("sha256"):
                raise ProjectError(f"{place} is not the wheel that was locked: run sampan build --lock")


def digest_of_lock(settings: ImageSettings) -> str:
    """Return a digest of the locked wheels."""
    return hashlib.sha256(settings.lock.read_bytes()).hexdigest()


def uv_program() -> str:
    """Return the path of uv: that of the package `uv`, or on PATH. Raises `ProjectError` with the remedy."""
    try:
        from uv import find_uv_bin  # noqa: PLC0415  # the package of an extra
    except ModuleNotFoundError:
        found = shutil.which("uv")
        if found is None:
            raise ProjectError("sampan build needs uv to lock wheels: pip install 'sampan[build]'") from None
        return found
    return str(find_uv_bin())


def _uv(settings: ImageSettings, arguments: Sequence[str], failure: str, requirements: str = "") -> None:
    done = subprocess.run(
        [uv_program(), *arguments, "--color", "never", "--no-progress"],
        cwd=settings.root,
        input=requirements,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ProjectError(f"{failure}: {_reason(done.stderr)}")


def _of_image(settings: ImageSettings) -> list[str]:
    """Return the dependencies, with the small distribution `sampan-operator` instead of `sampan`."""
    return [_SAMPAN.sub("sampan-operator", each) for each in settings.dependencies]


def _reason(text: str) -> str:
    """Return uv's explanation in one line."""
    words = text.replace("×", " ").replace("╰─▶", " ").replace("│", " ").split()
    return " ".join(words).removeprefix("error: ")[:_MESSAGE_MAX] or "uv gave no reason"


def _first_line(settings: ImageSettings) -> str:
    digest = hashlib.sha256("\n".join(sorted(_of_image(settings))).encode()).hexdigest()
    return f"{_HEADER}{digest[:16]}"


def _with_paths(text: str, root: Path) -> str:
    """Replace URLs of local wheels by paths relative to the project, so that the lock fits each checkout."""

    def replaced(found: "re.Match[str]") -> str:
        return f'path = "{os.path.relpath(unquote(found[1]), root.resolve())}"'

    return _URL.sub(replaced, text)
