"""`sampan get -w` as a separate process."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import config_map
from tests.cli.server import Server
from tests.user_environment import user_environment


@contextmanager
def _watching(server: Server, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The command, as a terminal starts it: Ctrl-C ends it, even where our own parent ignores that."""
    environment = user_environment(KUBECONFIG=str(server.data / "kubeconfig"))
    command = [sys.executable, "-u", "-m", "sampan.cli", "get", *arguments]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def test_changes_follow_what_was_there_in_the_same_columns(server: Server, run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=config_map("a"))
    with _watching(server, "cm", "-n", namespace, "-w") as process:
        header, first = _line(process), _line(process)
        run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="1"))
        changed = _line(process)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert [line.split()[:2] for line in (header, first, changed)] == [["NAME", "DATA"], ["a", "0"], ["a", "1"]]
    assert header.index("DATA") == changed.index("1")
    assert (process.returncode, error) == (130, "")


def test_a_single_object_is_watched_in_any_format(server: Server, run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=f"{config_map('a')}---\n{config_map('b')}")
    with _watching(server, "cm", "b", "-n", namespace, "-w", "-o", "name") as process:
        first = _line(process)
        run("apply", "-n", namespace, "-f", "-", stdin=f"{config_map('a', x='1')}---\n{config_map('b', x='1')}")
        second = _line(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert (first, second) == ("configmap/b", "configmap/b")
