"""One test of containers at a time on a machine: their Pods have the same uids, by which agents find what they left."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Other processes that run these tests wait."""
    with (Path(tempfile.gettempdir()) / f"sampan-tests-containers-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
