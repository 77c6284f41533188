"""Processor time of pytest with one test of `cluster`, as in a fresh container.

There, pip has compiled the installed packages, and nothing is written to their caches: `PYTHONDONTWRITEBYTECODE=1`. So
whatever pytest rewrites is rewritten in each run.
"""

import os
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

_TEST: Final = """
from sampan.testing import Cluster

async def test_default_namespace(cluster: Cluster) -> None:
    assert await cluster.get("ns/default")
"""
_PLUG_IN: Final = "sampan.pytest_plugin"


def measure() -> float:
    """Seconds of processor time, of user and system, from the start of Python to its end."""
    with tempfile.TemporaryDirectory(prefix="sampan-bench-") as name:
        directory = Path(name)
        (directory / "test_one.py").write_text(_TEST)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(directory / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # Without rewriting, the run compiles what a package manager compiles, and caches nothing of pytest.
        _run(directory, environment, "--assert=plain")
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        before = _children_s()
        _run(directory, environment)
        return _children_s() - before


def _run(directory: Path, environment: dict[str, str], *flags: str) -> None:
    """Run the test without the plug-ins of other packages."""
    without_rest = [f"-pno:{each.name}" for each in entry_points(group="pytest11") if each.name != _PLUG_IN]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *without_rest, *flags]
    subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
