"""`serving`: a server with a real address for the programs that a test starts, from the warm parent."""

import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from sampan.app.program_environment import program_environment
from sampan.core.clock import monotonic
from sampan.test_server.place import LOG, SOCKET, PlaceError, place, prepare_place
from sampan.test_server.protocol import DEFAULT_LOOPS, Order, send_order

START_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.01
_READY: Final = "ready "


class ServerFailed(RuntimeError):
    """The server has not started. The text contains its messages."""


@dataclass(slots=True)
class Endpoint:
    """Address, files and faults of a running server."""

    url: str
    kubeconfig: Path
    """File with all rights. It is removed with the server."""
    log: Path
    """Log of the server."""
    fired: list[str] = field(default_factory=list)
    """Faults that have occurred. Complete when the server has ended."""
    unfired: list[str] = field(default_factory=list)
    """Faults that have not occurred."""

    def environment(self, present: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a program that uses this server; see `program_environment`."""
        return program_environment(self.kubeconfig, self.url, present)


@contextmanager
def serving(
    *,
    loops: str = DEFAULT_LOOPS,
    plan: Path | None = None,
    arguments: Sequence[str] = (),
    crash: Callable[[], None] | None = None,
) -> Iterator[Endpoint]:
    """Serve on a free port of 127.0.0.1 until the end of the block. Objects are in memory.

    `loops`: control loops, see `sampan.testing.control_loops.sets`. `plan`: file with faults. `arguments`: more options
    of `sampan up`. `crash` kills the operator when a fault demands it; it is called in another thread.

    Raises `ServerFailed`.
    """
    order = Order(os.getcwd(), loops, str(plan.absolute()) if plan else "", "memory", ("--secure-port=0", *arguments))
    with tempfile.TemporaryDirectory(prefix="sampan-test-") as directory:
        log = Path(directory) / "server.log"
        with log.open("w") as errors:
            connection, output = _ordered(order, errors)
        with connection, output:
            endpoint = _announced(output, log)
            reader = threading.Thread(target=_follow, args=(connection, endpoint, crash), daemon=True)
            reader.start()
            try:
                yield endpoint
            finally:
                with suppress(OSError):
                    connection.sendall(b"stop\n")
                reader.join(START_TIMEOUT_S)


def _ordered(order: Order, errors: IO[str]) -> tuple[socket.socket, IO[str]]:
    """Return the connection to a new server, and its standard output."""
    directory = place()
    try:
        prepare_place(directory)
    except PlaceError as error:
        raise ServerFailed(str(error)) from error
    reader, writer = os.pipe()
    output = os.fdopen(reader)
    try:
        deadline, spawned = monotonic() + START_TIMEOUT_S, False
        while monotonic() < deadline:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(directory / SOCKET))
                send_order(connection, order, [writer, errors.fileno()])
                if connection.recv(8) == b"started\n":
                    return connection, output
                spawned = False  # that parent has ended: it was out of date or idle for too long
            except OSError:
                pass
            connection.close()
            if not spawned:
                _start_parent(directory)
                spawned = True
            time.sleep(RETRY_S)
    finally:
        os.close(writer)
    output.close()
    raise ServerFailed(f"no server has started; see {directory / LOG}")


def _start_parent(directory: Path) -> None:
    arguments = [sys.executable, "-m", "sampan.cli.test_server.warm", str(directory)]
    actions = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    # Not `subprocess`: this process does not wait for the parent, which lives on for other processes.
    os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions, setsid=True)


def _announced(output: IO[str], log: Path) -> Endpoint:
    """Return the endpoint in the line that the server prints when it is ready."""
    line = output.readline()
    if not line.startswith(_READY):
        raise ServerFailed(log.read_text().strip() or "the server has ended without a message")
    url, _, rest = line.removeprefix(_READY).partition(" (kubeconfig ")
    return Endpoint(url, Path(rest.rstrip().removesuffix(")")), log)


def _follow(connection: socket.socket, endpoint: Endpoint, crash: Callable[[], None] | None) -> None:
    """Handle the server's messages until the server ends."""
    with suppress(OSError), connection.makefile("r") as lines:
        for line in lines:
            word, _, text = line.rstrip("\n").partition(" ")
            if word == "crash":
                if crash is not None:
                    crash()
                connection.sendall(b"killed\n")
            elif word == "fired":
                endpoint.fired.append(text)
            elif word == "unfired":
                endpoint.unfired.append(text)
