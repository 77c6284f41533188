"""The server that is measured: `sampan up` in a separate process, on a durable store."""

import http.client
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import objects
from benchmarks.connection import Target

_STOP_TIMEOUT_S = 60.0
_COMMAND = (sys.executable, "-m", "sampan.cli", "up", "--port", "0", "--log-level", "warning")
NO_LOOPS = ("--controllers=", "--no-scheduler", "--nodes=0")
"""Options of a server without control loops."""
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is ready. `started_s`: seconds from the command to the line `ready`."""

    target: Target
    pid: int
    started_s: float

    def resident_mb(self) -> float:
        """Return the resident memory of the process, in MiB."""
        notified = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, text=True, check=True)
        return int(notified.stdout) / 1024


@contextmanager
def running(data: Path, *options: str) -> Iterator[Server]:
    """Run a server on this data directory, and stop it gracefully. Without options, it runs no control loops."""
    began = time.monotonic()
    process = subprocess.Popen(
        [*_COMMAND, *(options or NO_LOOPS), "--data", str(data)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        took = time.monotonic() - began
        if not line.startswith("ready https://"):
            raise RuntimeError(f"the server did not start: {line!r}")
        port = int(line.split("://")[1].split(" ")[0].rsplit(":", 1)[1])
        token = (data / "admin.token").read_text().strip()
        yield Server(Target("127.0.0.1", port, token), process.pid, took)
        process.send_signal(signal.SIGTERM)
        process.wait(_STOP_TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def prepare(target: Target) -> None:
    """Create the objects that the scenarios need: a namespace with its service account, and a CRD."""
    _post(target, "/api/v1/namespaces", objects.NAMESPACE_BODY)
    _post(target, f"/api/v1/namespaces/{objects.NAMESPACE}/serviceaccounts", objects.SERVICE_ACCOUNT_BODY)
    _post(target, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", objects.CRD_BODY)
    for _ in range(300):
        if _fetch(target, "GET", objects.NETWORKS) == 200:
            return
        time.sleep(0.1)
    raise RuntimeError("the custom resource is not served")


def _post(target: Target, path: str, body: bytes) -> None:
    status = _fetch(target, "POST", path, body)
    if status not in (201, 409):
        raise RuntimeError(f"preparing {path} failed: {status}")


def _fetch(target: Target, method: str, path: str, body: bytes = b"") -> int:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(target.host, target.port, context=context, timeout=30)
    try:
        connection.request(method, path, body or None, {"Authorization": f"Bearer {target.token}", **_JSON})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()
