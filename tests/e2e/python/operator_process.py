"""`kopf run` as a separate process."""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("gadget_operator.py")
ROOT = Path(__file__).parents[3]
"""The working directory of the process, so that the operator finds the modules of the tests."""

END_WITHIN_S = 15


class Operator:
    """The operator of the gadgets; its log goes to a file."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment = environment
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        """Start the process; it is at work when it has seen what there is."""
        command = [sys.executable, "-m", "kopf", "run", "--standalone", "-A", "--verbose", str(SOURCE)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, env={**self._environment, **environment}, cwd=ROOT)

    def stop(self) -> None:
        """End the process in order; it must not have failed."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            code = self._process.wait(END_WITHIN_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._process = None
        assert code == 0, self.log.read_text()
