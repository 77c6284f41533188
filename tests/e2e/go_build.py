"""Builds of Go programs for the tests. Without Go or its modules, the tests are skipped.

The first build on a machine downloads some 40 modules and takes minutes, hence the long time-out; later ones come from
Go's own cache. All builds have the same flags, so they share what they compile.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD_TIMEOUT_S = 600
DOWNLOAD_TIMEOUT_S = 240
QUICKLY = ("-trimpath", "-gcflags=all=-N -l", "-ldflags=-s -w")
"""Without optimisations and symbols; that saves a quarter of the compiler's time."""


def build(source: Path, output: Path, *command: str) -> Path:
    """Run `go COMMAND` with the usual flags in a module; gives the built program."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not on PATH")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    try:
        fetched = _run([go, "mod", "download"], source, environment, DOWNLOAD_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        pytest.skip("Go modules cannot be downloaded in time")
    if fetched.returncode:
        pytest.skip(f"Go modules cannot be downloaded: {fetched.stderr.strip()[-200:]}")
    verb, *arguments = command
    done = _run([go, verb, *QUICKLY, "-o", str(output), *arguments], source, environment, BUILD_TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    return output


def _run(
    command: list[str], directory: Path, environment: dict[str, str], timeout_s: float
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )
