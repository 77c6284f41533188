"""SIGTERM ends every command in order, also where SIGINT and SIGHUP are ignored: background jobs, nohup, cron."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import Server, command, running
from tests.user_environment import user_environment

END_TIMEOUT_S = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("signals") / "data") as server:
        yield server


def ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def ended(line: list[str], server: Server | None = None) -> tuple[int, str]:
    """Start a command as a background job, send it SIGTERM after its first line; gives exit code and output."""
    environment = user_environment(KUBECONFIG=str(server.data / "kubeconfig") if server else "")
    with subprocess.Popen(
        line,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=ignore_interrupts,
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=END_TIMEOUT_S)
        finally:
            process.kill()
    return process.returncode, first + output


@pytest.mark.parametrize(
    "arguments",
    [("get", "namespaces", "-w"), ("controllers",), ("scheduler",), ("node",)],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_runs_on_ends_in_order(server: Server, arguments: tuple[str, ...]) -> None:
    code, output = ended([sys.executable, "-u", "-m", "sampan.cli", *arguments], server)
    assert code == (130 if arguments[0] == "get" else 0), output


def test_a_server_ends_in_order(tmp_path: Path) -> None:
    code, output = ended([*command(tmp_path / "data")])
    assert code == 0, output
    assert "Traceback" not in output
