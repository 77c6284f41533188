"""Determinism: equal runs have byte-equal stores and request logs, also in processes with different hash seeds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import importlib, logging, sys
logging.disable(logging.CRITICAL)
from sampan.testing.explore.trial_run import run_trial
case = importlib.import_module(f"tests.testing.bugs.{sys.argv[1]}").case
for line in run_trial(case(repaired=True), seed=int(sys.argv[2]), logged=True).log:
    print(line)
"""


def log_of(module: str, hash_seed: int, seed: int = 0) -> list[str]:
    """Return the log of a run in a new process."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", PROGRAM, module, str(seed)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("module", ["b04_claim_of_ending_pod", "b15_two_secrets"])
def test_one_seed_gives_equal_stores_and_requests_in_every_process(module: str) -> None:
    first, second = log_of(module, 1), log_of(module, 2)
    assert len(first) > 50
    different = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    assert (different[:1], len(first)) == ([], len(second))
