"""One warm parent for a module, in a directory that only this module uses. It ends when it is idle."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Return the environment of programs that use the module's warm parent."""
    present = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="sampan-") as directory, pytest.MonkeyPatch.context() as patch:
        tempfile.tempdir = directory
        for name, value in (("TMPDIR", directory), ("XDG_CACHE_HOME", directory), ("SAMPAN_TEST_IDLE_S", "5")):
            patch.setenv(name, value)
        patch.setenv("KUBERNETES_SERVICE_HOST", "192.0.2.1")
        try:
            yield dict(os.environ)
        finally:
            tempfile.tempdir = present


@pytest.fixture(scope="module")
def assets(environment: dict[str, str]) -> Path:
    """Return a directory with the programs for envtest."""
    from sampan.test_server.assets import write_assets

    return write_assets(Path(environment["XDG_CACHE_HOME"]) / "assets")
