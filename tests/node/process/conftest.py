"""Lock so that only one test process of a machine runs containers: their Pods have the same uids."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Wait for other processes that run these tests."""
    with (Path(tempfile.gettempdir()) / f"sampan-tests-containers-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
