"""Races on the files of nodes: containers replace directories of volumes by links while the agent works in them."""

import os
import subprocess
import sys
from typing import Final

from tests.attack.report import Count

SECONDS: Final = 60
"""Time for each place where the agent works in files that containers can change."""
_TESTS: Final = ("tests/node/races", "tests/e2e/cri/test_races.py")


def race(seconds: int = SECONDS) -> Count:
    """Run each race for a time. A test that fails is a finding."""
    count = Count("races on files of nodes")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-rA", *_TESTS]
    environment = {**os.environ, "SAMPAN_RACE_SECONDS": str(seconds)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        outcome, _, name = line.partition(" ")
        if outcome in ("PASSED", "FAILED", "ERROR"):
            count.note(name, outcome == "PASSED", "" if outcome == "PASSED" else f"{name}: {outcome.lower()}")
    return count
