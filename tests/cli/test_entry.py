"""Ctrl-C while a program is loading, and the exit codes of wrong command lines."""

import signal
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sampan.cli import entry
from sampan.cli.main import main

INTERRUPTED_IMPORT = """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
"""
INTERRUPTED_MAIN = """
import os, signal
def main():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        print("in order")
"""
INTERRUPTED_EXIT = """
import atexit, os, signal, sys
def main():
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
    sys.exit(1)
"""


def run(folder: Path, module: str, interrupts: signal.Handlers = signal.SIG_DFL) -> "subprocess.CompletedProcess[str]":
    """Run a module as a program is run. `interrupts`: how SIGINT is handled at its start, whatever it is here."""
    (folder / "program.py").write_text(module)
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from sampan.cli import entry; entry._run('program')"
    before = signal.signal(signal.SIGINT, interrupts)
    try:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_modules_are_imported_shows_no_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, INTERRUPTED_IMPORT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_an_interrupt_later_reaches_the_program(tmp_path: Path) -> None:
    done = run(tmp_path, INTERRUPTED_MAIN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in order\n", "")


def test_an_interrupt_during_the_exit_shows_no_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, INTERRUPTED_EXIT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_background_job_that_ignores_interrupts_goes_on_to_do_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        (tmp_path / "ignoring.py").write_text(
            "import signal\ndef main():\n    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        entry._run("ignoring")
    finally:
        signal.signal(signal.SIGINT, before)


def test_each_program_starts_in_the_module_that_imports_nothing() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for name, value in project["scripts"].items():
        assert value.startswith("sampan.cli.entry:")
        assert callable(EntryPoint(name, value, "console_scripts").load())
    loaded = "import sys, sampan.cli.entry; print(any('click' in name or 'asyncio' in name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["up", "--nonsense"],
        ["up", "--port", "x"],
        ["up", "--tls-cert-file", "x"],
        ["snapshot", "save"],
        ["controllers", "--controllers=nobody"],
        ["generate", "nothing"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    error = capsys.readouterr().err
    assert (ended.value.code, error.count("\n"), error.startswith("sampan: error: ")) == (2, 1, True), error


@pytest.mark.parametrize("command", ["join", "processes.dns", "processes.node"])
def test_a_node_and_a_dns_server_load_no_scheduler_and_no_controllers(command: str) -> None:
    code = f"import sys, sampan.cli.{command}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "sampan.scheduler.set_up", "sampan.controllers.catalogue"}.isdisjoint(loaded)
