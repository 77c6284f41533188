"""`previous`: Sampan of the last release, or of a fixed commit until there is one, as an unpacked wheel.

The wheel is built once for all clones of a user. Its dependencies are those that run the tests.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest
from scripts.install.projects import ROOT

from tests.e2e.conformance import cache

_BEFORE_RELEASES: Final = "52fbb2c0117c"
"""Commit that counts as the last release while the repository has no tag."""


def previous() -> Path:
    """Return the directory to put on PYTHONPATH. Skips the test if this clone does not have the commit."""
    commit = _commit()
    directory = cache.default(f"sampan-{commit}")
    unpacked = directory / "packages"
    if unpacked.exists():
        return unpacked
    with cache.locked(directory, lambda text: None), cache.unfinished(directory) as work:
        if not unpacked.exists():
            _build(commit, work)
            (work / "packages").rename(unpacked)
    return unpacked


def _commit() -> str:
    tag = _git("describe", "--tags", "--abbrev=0", "HEAD^").stdout.strip()
    found = _git("rev-parse", "--short=12", "--verify", "--quiet", f"{tag or _BEFORE_RELEASES}^{{commit}}")
    if found.returncode:
        pytest.skip("this clone has no commit of an earlier version: git fetch --unshallow")
    return found.stdout.strip()


def _build(commit: str, directory: Path) -> None:
    """Write `packages` with the contents of the wheel."""
    source = directory / "source"
    source.mkdir()
    archive = directory / "source.tar"
    assert _git("archive", "--output", str(archive), commit).returncode == 0
    subprocess.run(["tar", "-xf", archive, "-C", source], check=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    with zipfile.ZipFile(next(directory.glob("*.whl"))) as wheel:
        wheel.extractall(directory / "packages")


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
