"""The processes of a soak: a server with its control loops, and simulated nodes.

Their samples come from /proc and /metrics.
"""

import http.client
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.server import Server, running
from benchmarks.soak.verdict import Sample

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_TASKS: Final = b"asyncio_tasks "
_STOP_TIMEOUT_S: Final = 30.0
_STARTS_TRIED: Final = 300


@dataclass(frozen=True, slots=True)
class Watched:
    """A process that is measured. `token` is set if /metrics requires a token and TLS."""

    name: str
    pid: int
    port: int
    token: str = ""

    def processor_s(self) -> float:
        """Return the processor time in seconds since the start of the process."""
        # The name in parentheses may contain spaces.
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def sample(self, idle_percent: float) -> Sample:
        """Return the current sample of the process."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))
        return Sample(pages * _PAGE_BYTES / 1e6, descriptors, self._tasks(), idle_percent)

    def _tasks(self) -> int:
        connection: http.client.HTTPConnection
        if self.token:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {self.token}"})
            body = connection.getresponse().read()
        finally:
            connection.close()
        return int(float(next(line.split()[1] for line in body.splitlines() if line.startswith(_TASKS))))


@dataclass(frozen=True, slots=True)
class Cluster:
    """Server of a soak, and the processes that are measured."""

    server: Server
    watched: list[Watched]


@contextmanager
def cluster(data: Path, nodes: int) -> Iterator[Cluster]:
    """Run a server, its control loops and simulated nodes, each in a separate process, and stop them gracefully."""
    loops_port, nodes_port = _free_ports()
    options = ("--nodes=0", "--allocate-node-cidrs=true", f"--loops-probe-address=127.0.0.1:{loops_port}")
    with running(data, *options) as server, _nodes(data, nodes, nodes_port) as nodes_pid:
        yield Cluster(
            server,
            [
                Watched("server", server.pid, server.target.port, server.target.token),
                Watched("loops", _only_child(server.pid), loops_port),
                Watched("nodes", nodes_pid, nodes_port),
            ],
        )


@contextmanager
def _nodes(data: Path, count: int, port: int) -> Iterator[int]:
    command = [sys.executable, "-m", "sampan.cli", "node", f"--simulated={count}", "--log-level=warning"]
    command += [f"--kubeconfig={data / 'kubeconfig'}", f"--probe-address=127.0.0.1:{port}"]
    process = subprocess.Popen(command)
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        finally:
            process.kill()
            process.wait()


def _only_child(pid: int) -> int:
    """Return the process id of the control loops, which the server starts right after it has reported `ready`."""
    for _ in range(_STARTS_TRIED):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if len(children) == 1:
            return int(children[0])
        time.sleep(0.1)
    raise RuntimeError(f"the server has {len(children)} children, not its control loops alone")


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]
