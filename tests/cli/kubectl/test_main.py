"""`kubectl sampan` without a command, and what the shell is offered."""

import pytest

from sampan.cli.kubectl.completion import main as complete
from tests.cli.kubectl.conftest import Run
from tests.e2e.conftest import Api

Capture = pytest.CaptureFixture[str]


def test_without_a_command_there_is_help(run: Run) -> None:
    done = run()
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == "Usage: kubectl sampan [OPTIONS] COMMAND [ARGS]..."


def offered(capsys: Capture, *words: str) -> list[str]:
    """Return the output of the command for kubectl, without the explanations."""
    complete(words)
    return [line.partition("\t")[0] for line in capsys.readouterr().out.splitlines()]


def test_commands_are_completed(capsys: Capture) -> None:
    assert offered(capsys, "tr") == ["trace", "tree", ":4"]
    assert offered(capsys) == ["diff", "history", "restore", "trace", "tree", ":4"]


def test_names_are_completed(run: Run, api: Api, namespace: str, capsys: Capture) -> None:
    api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "harbour"}})
    assert offered(capsys, "tree", "-n", namespace, "configmap/") == ["configmap/harbour", ":4"]
    assert offered(capsys, "history", "-n", namespace, "configmap", "ha") == ["harbour", ":4"]


def test_files_are_left_to_the_shell(capsys: Capture) -> None:
    assert offered(capsys, "trace", "-f", "") == [":0"]
