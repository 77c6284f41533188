"""Packages of `web/package-lock.json`: installation with npm, esbuild's program, and their licences."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

_NPM_TIMEOUT_S = 300


class CannotBuild(Exception):
    """What this machine lacks to build the page, in one line."""


def install(web: Path, *, development: bool = False) -> None:
    """Install the locked packages, unless they are installed. Raises `CannotBuild`.

    `development`: with the type checker.
    """
    if _is_installed(web, development=development):
        return
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise CannotBuild("Node.js and npm are not on PATH")
    # Scripts of packages never run. A registry that cannot be reached is reported at once.
    command = ["npm", "ci", "--ignore-scripts", "--fetch-retries=0", "--prefer-offline", "--loglevel=error"]
    only = [] if development else ["--omit=dev"]
    try:
        done = subprocess.run(
            [*command, *only], cwd=web, capture_output=True, text=True, timeout=_NPM_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotBuild(f"npm ci in web/ took more than {_NPM_TIMEOUT_S} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise CannotBuild(f"npm ci in web/ failed: {lines[0] if lines else done.returncode}")


def esbuild(web: Path) -> Path:
    """Return the path of esbuild's program. Raises `CannotBuild`."""
    found = [
        *(web / "node_modules" / "@esbuild").glob("*/bin/esbuild"),
        *(web / "node_modules/@esbuild").glob("*/*.exe"),
    ]
    if not found:
        raise CannotBuild("web/node_modules has no esbuild for this machine")
    return found[0]


def notice(web: Path) -> str:
    """Return the names, versions and licences of the packages that are part of the page."""
    parts = ["The page at /dashboard/ contains these packages.\n"]
    for path in sorted(_bundled(web)):
        folder = web / path
        package = json.loads((folder / "package.json").read_text())
        title = f"{package['name']} {package['version']} ({package['license']})"
        parts.append("\n".join(("=" * 80, title, "", _licence(folder), "")))
    return "\n".join(parts)


def _bundled(web: Path) -> list[str]:
    """Return the paths of the packages in the lock file, except those that only build or check the page."""
    return [
        path
        for path, package in _locked(web).items()
        if path and not package.get("dev") and not package.get("optional") and not path.endswith("/esbuild")
    ]


def _licence(folder: Path) -> str:
    for path in sorted(folder.iterdir()):
        if path.name.lower().startswith(("license", "licence")):
            return path.read_text().strip()
    raise CannotBuild(f"{folder.name} has no licence file")


def _is_installed(web: Path, *, development: bool) -> bool:
    """Return whether the installed packages are those of the lock file."""
    file = web / "node_modules" / ".package-lock.json"
    if not file.exists():
        return False
    installed = json.loads(file.read_text())["packages"]
    return all(
        path in installed and installed[path]["version"] == package["version"]
        for path, package in _locked(web).items()
        if path and not package.get("optional") and (development or not package.get("dev"))
    )


def _locked(web: Path) -> dict[str, Any]:
    packages: dict[str, Any] = json.loads((web / "package-lock.json").read_text())["packages"]
    return packages
