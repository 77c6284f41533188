"""A real DNS server and a real HAProxy, of Debian's packages, which tests kill and start again."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.machines import wait_for
from tests.ports import free_port

KEY = "publisher:c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"
_NAMED = """
options {{ directory "{folder}"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; dnssec-validation no; notify no; pid-file none;
  session-keyfile none; allow-transfer {{ none; }}; }};
controls {{ }};
key "publisher" {{ algorithm hmac-sha256; secret "{secret}"; }};
zone "example.org" {{ type primary; file "zone.db"; allow-update {{ key publisher; }}; }};
"""
_ZONE = """$TTL 60
@ IN SOA ns hostmaster 1 3600 600 86400 60
@ IN NS ns
ns IN A 127.0.0.1
mail IN A 192.0.2.25
mail IN TXT "of another client"
"""
_HAPROXY = """
global
  stats socket {folder}/haproxy.sock mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend shop
  bind 127.0.0.1:{port}
  default_backend shop
backend shop
  server spare 127.0.0.1:9 backup
"""


class ServerProcess:
    """Server with its files in a folder."""

    def __init__(self, folder: Path, port: int, enter: Sequence[str], command: list[str]) -> None:
        self.folder = folder
        self.port = port
        self._command = [*enter, *command]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self) -> None:
        """Send SIGKILL, and wait for the end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        """Return the log, for messages of failed tests."""
        return "\n" + (self.folder / "log").read_text()


@contextmanager
def named(enter: Sequence[str] = ()) -> Iterator[ServerProcess]:
    """Run BIND with the zone example.org on loopback. `enter`: command that runs it on a machine."""
    with _folder() as folder:
        port = free_port()
        (folder / "named.conf").write_text(_NAMED.format(folder=folder, port=port, secret=KEY.partition(":")[2]))
        (folder / "zone.db").write_text(_ZONE)
        program = shutil.which("named", path="/usr/sbin:/usr/bin") or "named"
        found = ServerProcess(folder, port, enter, [program, "-g", "-c", str(folder / "named.conf")])
        with _running(found):
            wait_for(lambda: " running\n" in found.log(), "BIND", 60, state=found.log)
            yield found


@contextmanager
def haproxy(enter: Sequence[str] = ()) -> Iterator[ServerProcess]:
    """Run HAProxy with the backend `shop`, whose only server is that of the configuration."""
    with _folder() as folder:
        port = free_port()
        (folder / "haproxy.cfg").write_text(_HAPROXY.format(folder=folder, port=port))
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin") or "haproxy"
        found = ServerProcess(folder, port, enter, [program, "-db", "-f", str(folder / "haproxy.cfg")])
        with _running(found):
            wait_for((folder / "haproxy.sock").exists, "HAProxy", 60, state=found.log)
            yield found


@contextmanager
def _running(server: ServerProcess) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.kill()


@contextmanager
def _folder() -> Iterator[Path]:
    """Return a folder with a short path: that of a Unix socket has at most 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="publish-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
