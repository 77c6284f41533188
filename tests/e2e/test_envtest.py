"""A project as kubebuilder makes it: its suite with controller-runtime's envtest passes on our programs, unchanged.

The project is in tests/e2e/guestbook: a controller, mutating and validating webhooks, and a conversion webhook.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.e2e.go_build import build

PROJECT = Path(__file__).parent / "guestbook"
SUITE_TIMEOUT_S = 120
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def test_a_suite_with_envtest_passes_unchanged(tmp_path: Path) -> None:
    suite = build(PROJECT, tmp_path / "guestbook.test", "test", "-c", "./controller")
    with tempfile.TemporaryDirectory(prefix="sampan-") as directory:
        environment = {**os.environ, "TMPDIR": directory, "SAMPAN_TEST_IDLE_S": "1"}
        prepare = [sys.executable, "-m", "sampan.cli", "test", "assets", "--dir", str(tmp_path / "assets")]
        assets = subprocess.run(prepare, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        done = subprocess.run(
            [suite, "-test.v"],
            cwd=PROJECT / "controller",
            env={**environment, "KUBEBUILDER_ASSETS": assets},
            capture_output=True,
            text=True,
            timeout=SUITE_TIMEOUT_S,
            check=False,
        )
    assert (done.returncode, done.stdout.count("--- PASS")) == (0, 7), done.stdout + done.stderr
