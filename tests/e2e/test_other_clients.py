"""Rust's kube and Java's fabric8 against a server of `sampan test`. Their builds take minutes: run `make clients`."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUN_TIMEOUT_S = 1500
COMMANDS = {
    "rust": ("cargo", "run", "--quiet", "--manifest-path", str(HERE / "rust" / "Cargo.toml")),
    "java": ("mvn", "-q", "-B", "-f", str(HERE / "java" / "pom.xml"), "compile", "exec:java"),
}
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1600),
    pytest.mark.skipif("SAMPAN_TEST_CLIENTS" not in os.environ, reason="takes minutes: run make clients"),
]


@pytest.mark.parametrize("language", COMMANDS)
def test_a_client_of_another_language_works(language: str) -> None:
    command = COMMANDS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not on PATH")
    with tempfile.TemporaryDirectory(prefix="sampan-") as directory:
        builds = {"CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", f"{directory}/target")}
        environment = {**os.environ, **builds, "TMPDIR": directory, "SAMPAN_TEST_IDLE_S": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "sampan.cli", "test", "--", *command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
    assert (done.returncode, "ok\n" in done.stdout) == (0, True), done.stdout + done.stderr
