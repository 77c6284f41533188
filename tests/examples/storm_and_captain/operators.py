"""The operators of two examples as processes."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.user_environment import user_environment

EXAMPLES: Final = Path(__file__).parents[3] / "examples"
FOLDERS: Final[Mapping[str, Path]] = {
    "captains": EXAMPLES / "15-leader",
    "storms": EXAMPLES / "14-simulate-failures",
}


class Operator:
    """Process of an operator. It can be killed and started again."""

    def __init__(self, name: str, kubeconfig: Path, log: Path, enter: Sequence[str] = ()) -> None:
        """`enter`: command before that of the operator, which runs it on another machine."""
        probes = ("--health-probe-bind-address", "0", "--metrics-bind-address", "0")
        variables = (f"PYTHONPATH={FOLDERS[name] / 'src'}", f"KUBECONFIG={kubeconfig}")
        self._command = [*enter, "env", *variables, sys.executable, "-m", name, *probes]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=user_environment(), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def kill(self) -> None:
        """Send SIGKILL to the process, and to the command that has entered the machine."""
        assert self._process is not None
        os.killpg(self._process.pid, 9)
        self._process.wait()


@contextmanager
def operating(name: str, kubeconfig: Path, log: Path, enter: Sequence[str] = ()) -> Iterator[Operator]:
    """Run an operator during the block."""
    made = Operator(name, kubeconfig, log, enter)
    made.start()
    try:
        yield made
    finally:
        made.kill()


def crd_text(name: str, kind: str) -> str:
    """Return the CRD of an example, made from its types, as JSON."""
    module = f"{name}.{kind.lower()}.v1"
    script = f"from {module} import {kind} as made; from sampan.resource.crd import crd_of; import json"
    environment = user_environment(PYTHONPATH=str(FOLDERS[name] / "src"))
    command = [sys.executable, "-c", f"{script}; print(json.dumps(crd_of(made)))"]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
