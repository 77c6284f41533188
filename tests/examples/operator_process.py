"""Operator of an example as a process that tests kill and start again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.user_environment import user_environment

EXAMPLES = Path(__file__).parents[2] / "examples"
NO_PORTS = ("--health-probe-bind-address=0", "--metrics-bind-address=0")
"""Flags of an operator that listens on no port."""


class OperatorProcess:
    """`python -m PACKAGE` of an example."""

    def __init__(
        self, example: str, package: str, environment: Mapping[str, str], log: Path, enter: Sequence[str] = ()
    ) -> None:
        """`enter`: command that runs it on a machine. It starts the operator as a child."""
        path = f"{EXAMPLES / example / 'src'}:{EXAMPLES.parent / 'src'}"
        self._command = [*enter, sys.executable, "-m", package, *NO_PORTS]
        self._environment = user_environment(PYTHONPATH=path, **environment)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process. Its log is appended."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env=self._environment, stdout=log, stderr=log)

    def kill(self) -> None:
        """Send SIGKILL, also to the operator on a machine, and wait for the end."""
        assert self._process is not None
        if self._process.poll() is None:
            # A stopped process starts no child meanwhile.
            self._process.send_signal(signal.SIGSTOP)
            for child in _children(self._process.pid):
                os.kill(child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def operating(
    example: str, package: str, environment: Mapping[str, str], log: Path, enter: Sequence[str] = ()
) -> Iterator[OperatorProcess]:
    """Run an operator during the block."""
    found = OperatorProcess(example, package, environment, log, enter)
    found.start()
    try:
        yield found
    finally:
        found.kill()
