"""Wheels for each platform: the check itself, and one resolution where pip reaches an index."""

import json
import subprocess
from collections.abc import Callable, Sequence

import pytest
from scripts.install.wheels import PLATFORMS, required, resolve, run_pip

Runner = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def pip(code: int, stdout: str = "", stderr: str = "") -> Runner:
    """Return a fake pip with this result."""
    return lambda arguments: subprocess.CompletedProcess(arguments, code, stdout, stderr)


def test_extras_of_users_are_checked_but_not_those_of_developers() -> None:
    names = {requirement.partition(">")[0] for requirement in required("linux-x86_64")}
    assert {"cryptography", "grpcio", "PyNaCl"} <= names
    assert "pytest" not in names


def test_resolved_wheels_are_named() -> None:
    report = {"install": [{"download_info": {"url": "file:///index/a-1-py3-none-any.whl"}}]}
    assert resolve("linux-x86_64", "3.11", ["a"], pip(0, json.dumps(report))) == ["a-1-py3-none-any.whl"]


def test_a_missing_wheel_is_reported_with_its_platform() -> None:
    failing = pip(1, stderr="ERROR: none (from versions: none)\nERROR: No matching distribution found for a\n")
    with pytest.raises(LookupError, match=r"^musl-aarch64, Python 3\.14: ERROR: No matching distribution found for a$"):
        resolve("musl-aarch64", "3.14", ["a"], failing)


def test_pip_may_take_only_wheels_of_the_platform() -> None:
    calls: list[Sequence[str]] = []

    def run(call: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        calls.append(call)
        return subprocess.CompletedProcess(call, 0, '{"install": []}', "")

    resolve("musl-x86_64", "3.12", ["a"], run)
    [call] = calls
    assert "--only-binary=:all:" in call
    assert [call[at + 1] for at, word in enumerate(call) if word == "--platform"] == list(PLATFORMS["musl-x86_64"])


def test_an_arm_machine_with_musl_and_the_newest_python_needs_no_compiler() -> None:
    if run_pip(("index", "versions", "pip", "--retries", "0", "--timeout", "5")).returncode:
        pytest.skip("pip reaches no package index")
    assert resolve("musl-aarch64", "3.14", required("musl-aarch64"))
