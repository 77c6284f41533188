"""`Terminal`: a shell on a machine, in which a user types commands.

Variables, the directory and background programs stay from one command to the next. Each command is a file that the
shell reads; its output and exit code are files, too, so a background program can write on.
"""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.machines import Machine

_POLL_S: Final = 0.02


@dataclass(frozen=True)
class Done:
    """A command that the shell has run. Programs that it left in the background may still write."""

    code: int
    path: Path
    """File of its output."""

    @property
    def output(self) -> str:
        """Output until now, stderr included."""
        return self.path.read_text(errors="replace")


class Terminal:
    """Shell on a machine."""

    def __init__(self, machine: Machine, environment: Mapping[str, str]) -> None:
        """`environment`: all variables; HOME is the directory, which exists."""
        self.environment = dict(environment)
        self._files = machine.root / "terminal"
        self._files.mkdir(exist_ok=True)
        with (self._files / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*machine.enter, "bash", "--noprofile", "--norc"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self.environment,
            )
        machine.started.append(self._process)
        self._number = len(os.listdir(self._files))
        self.run('cd "$HOME"', 60)

    def run(self, command: str, timeout_s: float) -> Done:
        """Run a command to its end. Raises AssertionError at the time-out or if the shell has ended."""
        self._number += 1
        base = self._files / str(self._number)
        script, output, code = base.with_suffix(".sh"), base.with_suffix(".out"), base.with_suffix(".code")
        script.write_text(f"{command}\n")
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(f". {script} </dev/null >{output} 2>&1; echo $? >{code}\n".encode())
        stdin.flush()
        is_done = until(lambda: _is_written(code) or self._process.poll() is not None, timeout_s)
        assert is_done, f"no end after {timeout_s:.0f} s; output until then:\n{_text(output)}"
        assert _is_written(code), f"the shell ended; output until then:\n{_text(output)}"
        return Done(int(code.read_text()), output)

    def close(self) -> None:
        """Close the shell's input. It ends with its machine."""
        if self._process.stdin is not None:
            self._process.stdin.close()


def until(condition: Callable[[], object], timeout_s: float) -> bool:
    """Wait for a condition; return False if it does not hold in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _is_written(code: Path) -> bool:
    return code.exists() and code.read_text().endswith("\n")


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
