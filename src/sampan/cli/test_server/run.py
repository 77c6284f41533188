"""`run_tests`: runs a program and an operator against a new server.

Concurrency: the main thread waits for the program. The thread of the connection to the server calls `crash`. Both use
the process of a `SupervisedProgram`, so that it has a lock.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import click

from sampan.test_server.assets import assets_directory, environment_of_assets, write_assets
from sampan.test_server.endpoint import Endpoint, ServerFailed, serving

LOG_LINES_MAX: Final = 40
STOP_S: Final = 10.0
"""Time in which a program must end after SIGTERM."""
_FORWARDED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_FROM_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal also sends to the program."""
_OF_SIGNAL: Final = 128


@dataclass(frozen=True, slots=True)
class ProgramsToRun:
    """Programs to run. `program` and `operator` are commands; `plan` is a file with faults."""

    program: tuple[str, ...]
    loops: str
    plan: Path | None
    operator: str | None


class SupervisedProgram:
    """A program that is started again after a crash.

    `grouped`: it has its own process group, so that signals also reach its children. A program on a terminal must be in
    the shell's group: only that group may read from the terminal.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, grouped: bool = True) -> None:
        """Start the program. Raises `OSError`."""
        self._command, self._environment, self._grouped = command, environment, grouped
        self._lock = threading.Lock()
        self._process = self._start()

    def wait(self) -> int:
        """Return the exit code of the first process that ends without a crash."""
        while True:
            process = self._process
            code = process.wait()
            with self._lock:
                if process is self._process:
                    return _OF_SIGNAL - code if code < 0 else code

    def crash(self) -> None:
        """Kill all processes of the program with SIGKILL, and start it again."""
        with self._lock:
            self._kill(signal.SIGKILL)
            self._process.wait()
            self._process = self._start()

    def stop(self) -> int | None:
        """Stop the program. Return its exit code if it had already ended."""
        code = self._process.poll()
        if code is None:
            self._kill(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._kill(signal.SIGKILL)
                self._process.wait()
        return code

    def send(self, number: int) -> None:
        """Send a signal to all processes of the program."""
        self._kill(number)

    def _kill(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self._grouped:
                os.killpg(self._process.pid, number)
            elif number not in _FROM_TERMINAL:
                self._process.send_signal(number)

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, env=self._environment, process_group=0 if self._grouped else None)


def run_tests(run: ProgramsToRun) -> int:
    """Return the exit code of the program, or 1 if a fault of the plan has not occurred."""
    target: list[SupervisedProgram] = []
    try:
        assets = write_assets(assets_directory())
        with serving(loops=run.loops, plan=run.plan, crash=lambda: target[0].crash()) as endpoint:
            environment = {**endpoint.environment(), **environment_of_assets(assets)}
            code = _run(run, environment, target)
            if code:
                _show_log(endpoint)
    except ServerFailed as error:
        raise click.ClickException(str(error).removeprefix("sampan: error: ")) from error
    except OSError as error:
        raise click.ClickException(f"cannot run {error.filename}: {error.strerror}") from error
    return code or _check_plan(endpoint)


def _run(run: ProgramsToRun, environment: Mapping[str, str], target: list[SupervisedProgram]) -> int:
    operator = None
    if run.operator:
        operator = SupervisedProgram(shlex.split(run.operator), environment)
        target.append(operator)
    try:
        program = SupervisedProgram(run.program, environment, grouped=bool(run.plan) or not sys.stdin.isatty())
        target.append(program)
        with _forwarding(program):
            code = program.wait()
    finally:
        ended = operator.stop() if operator else None
    if ended is not None:
        click.echo(f"sampan test: the operator ended by itself with exit code {ended}", err=True)
        return code or 1
    return code


@contextmanager
def _forwarding(program: SupervisedProgram) -> Iterator[None]:
    """Forward signals to the program, which decides when to end."""

    def forward(number: int, frame: FrameType | None) -> None:
        program.send(number)

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_log(endpoint: Endpoint) -> None:
    """Print the last lines of the server's log, if it has reported anything."""
    lines = endpoint.log.read_text(errors="replace").splitlines()[-LOG_LINES_MAX:]
    if lines:
        print("--- last lines of the server's log", *lines, "---", sep="\n", file=sys.stderr)


def _check_plan(endpoint: Endpoint) -> int:
    """Report faults that have not occurred: a run without them proves nothing."""
    for title in endpoint.unfired:
        click.echo(
            f"sampan test: this fault has not occurred: {title}. Correct its `which`, or set `optional: true`.",
            err=True,
        )
    return 1 if endpoint.unfired else 0
