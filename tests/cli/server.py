"""`sampan up` as a separate process, and a small TLS client for it."""

import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_TIMEOUT_S = 60.0
NO_LOOPS = ("--controllers=", "--no-scheduler", "--nodes=0")
"""The options of a server that does nothing by itself."""


@dataclass
class Server:
    """A server that has printed its line."""

    process: "subprocess.Popen[str]"
    data: Path
    ready_line: str
    port: int

    def connect(self, *, certificate: Path | None = None, key: Path | None = None) -> http.client.HTTPSConnection:
        """A connection that trusts the server's CA, with a client certificate or without."""
        context = ssl.create_default_context(cafile=str(self.data / "pki" / "ca.crt"))
        if certificate is not None:
            context.load_cert_chain(certificate, key)
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=20)

    def get(self, path: str, token: str | None = None, files: Mapping[str, Path] | None = None) -> tuple[int, bytes]:
        """Send a GET on a new connection. `files`: a client's certificate and key."""
        connection = self.connect(**(files or {}))
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def status(self, path: str, token: str | None = None, files: Mapping[str, Path] | None = None) -> dict[str, Any]:
        """GET and decode."""
        document: dict[str, Any] = json.loads(self.get(path, token, files)[1])
        return document

    @property
    def token(self) -> str:
        return (self.data / "admin.token").read_text().strip()

    @property
    def admin(self) -> dict[str, Path]:
        return {"certificate": self.data / "pki" / "admin.crt", "key": self.data / "pki" / "admin.key"}


def command(data: Path, *more: str, module: str = "sampan.cli") -> Sequence[str]:
    """The command line of a server on a free port; `module` is what is run, if not the `sampan` command itself."""
    return [sys.executable, "-m", module, "up", "--data", str(data), "--port", "0", *more]


@contextmanager
def running(
    data: Path, *more: str, module: str = "sampan.cli", loops: bool = False, prefix: Sequence[str] = ()
) -> Iterator[Server]:
    """Run a server until the end of the block, and kill it then if it still runs. Its log goes to `<data>.log`.

    `prefix` comes before the command, to start it elsewhere.
    With `loops`, controllers, the scheduler and one node run too, unless `more` has other options.
    """
    log = data.with_suffix(".log")
    more = more if loops else (*NO_LOOPS, *more)
    with log.open("a") as stderr:
        process = subprocess.Popen(
            [*prefix, *command(data, *more, module=module)], stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready https://"), log.read_text()
        yield Server(process, data, line, int(line.split("://")[1].split(" ")[0].rsplit(":", 1)[1]))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def failing(data: Path, *more: str) -> tuple[int, str, str]:
    """Run a command that is to fail; gives exit code, stdout and stderr."""
    done = subprocess.run(command(data, *more), capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr
