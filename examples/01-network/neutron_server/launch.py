"""Install and start a real OpenStack Neutron on loopback, without other services, with its database in a directory.

    python -m neutron_server.launch --data DIR [--port PORT]          (from examples/01-network)

Neutron gets its own virtual environment (about a minute and 350 MB, once). The content of DIR survives the process,
even after kill -9.
"""

import argparse
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
PIP = HERE.parents[2] / "scripts" / "install" / "pip_progress.py"
VENV = HERE.parents[2] / ".neutron"
"""Default directory of the virtual environment, in the root of the project."""

START_TIMEOUT_S = 60

_CONFIG = """\
[DEFAULT]
core_plugin = ml2
auth_strategy = noauth
transport_url = fake://
api_paste_config = {venv}/etc/neutron/api-paste.ini
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
dhcp_agent_notification = false
[database]
connection = sqlite:///{data}/neutron.db
sqlite_synchronous = false
[oslo_messaging_notifications]
driver = noop
[ml2]
type_drivers = local
tenant_network_types = local
mechanism_drivers =
"""


def install(venv: Path = VENV) -> Path:
    """Create Neutron's virtual environment if it does not exist, and return its Python. A lock allows concurrent calls.

    Raises `CalledProcessError` if pip cannot install it.
    """
    python = venv / "bin" / "python"
    desired = REQUIREMENTS.read_text()
    done = venv / ".installed"
    venv.parent.mkdir(parents=True, exist_ok=True)
    with (venv.parent / f"{venv.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists() and done.read_text() == desired:
            return python
        print(
            f"installing OpenStack Neutron into {venv}: once, about a minute, 350 MB of disk; delete the directory "
            "to free it",
            file=sys.stderr,
            flush=True,
        )
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([sys.executable, PIP, str(venv), "-r", str(REQUIREMENTS)], check=True)
        done.write_text(desired)
    return python


def free_port() -> int:
    """Return an unused port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Neutron:
    """Neutron process. It can be started again after `kill`; the data stays."""

    def __init__(self, data: Path, *, port: int = 0, venv: Path = VENV) -> None:
        self.data = data.absolute()
        self.port = port or free_port()
        self.venv = venv
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """URL of its API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Process id. Raises `AssertionError` if Neutron does not run."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start Neutron, and wait until it responds. Raises `RuntimeError` with the end of the log on failure."""
        python = install(self.venv)
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "neutron.conf").write_text(_CONFIG.format(venv=self.venv.absolute(), data=self.data))
        environment = {
            **os.environ,
            "OS_NEUTRON_CONFIG_DIR": str(self.data),
            "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
        }
        with (self.data / "neutron.log").open("ab") as log:
            self._process = subprocess.Popen(
                [python, HERE / "serve.py", str(self.port)], env=environment, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._responds():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                end = (self.data / "neutron.log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"Neutron did not start:\n{end}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill Neutron with SIGKILL. Unfinished requests may or may not have succeeded, as after a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wait(self) -> int:
        """Wait until Neutron ends, and return its exit code."""
        assert self._process is not None
        return self._process.wait()

    def _responds(self) -> bool:
        try:
            with urllib.request.urlopen(self.url, timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            return False


@contextlib.contextmanager
def running(data: Path, *, port: int = 0, venv: Path = VENV) -> Iterator[Neutron]:
    """Run a Neutron during the block."""
    neutron = Neutron(data, port=port, venv=venv)
    try:
        neutron.start()
        yield neutron
    finally:
        neutron.kill()


def main() -> None:
    """Run until a signal arrives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, default=9696)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with running(given.data, port=given.port) as neutron:
        print(f"ready {neutron.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            neutron.wait()


if __name__ == "__main__":
    main()
