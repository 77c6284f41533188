"""`BoundPort`: the port of a server, or the reason why it could not be bound."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sampan.app.errors import StartError
from sampan.app.listen import advertised_address, bind_socket
from sampan.app.settings.up import UpSettings

_BIND_REMEDIES = {
    errno.EADDRINUSE: ": stop the program that uses it, or choose another port with --port (0: a free one)",
    errno.EACCES: ": choose a port above 1023 with --port",
    errno.EADDRNOTAVAIL: ": choose an address of this machine with --bind",
}


def listen_address(settings: UpSettings) -> str:
    """Return the address to listen on, which Pods reach if the server has a node with containers."""
    if settings.bind:
        return settings.bind
    return "0.0.0.0" if settings.nodes and settings.node_runtime == "cri" else "127.0.0.1"


@dataclass(frozen=True, slots=True)
class BoundPort:
    """Result of an attempt to bind the port. Its error is raised last, because it would hide those of the files."""

    sock: socket.socket | None
    error: StartError | None
    port: int

    def address(self) -> str:
        """Return the address at which clients on other machines reach the server; without a port, that of loopback."""
        return "127.0.0.1" if self.sock is None else advertised_address(self.sock)

    def result(self) -> socket.socket:
        """Return the socket. Raises `StartError`."""
        if self.sock is None:
            assert self.error is not None
            raise self.error
        return self.sock


@contextmanager
def bound_port(settings: UpSettings) -> Iterator[BoundPort]:
    """Bind the port of a server during the block. An error is part of the result."""
    try:
        sock = _bind(settings)
    except StartError as error:
        yield BoundPort(None, error, settings.port)
        return
    with sock:
        yield BoundPort(sock, None, sock.getsockname()[1])


def _bind(settings: UpSettings) -> socket.socket:
    bind = listen_address(settings)
    try:
        return bind_socket(bind, settings.port)
    except OSError as error:
        host, colon, port = bind.partition(":")
        if colon and port.isdecimal():
            hint = f"--bind takes an address alone; use --bind {host or '0.0.0.0'} --port {port}"
            raise StartError(f"cannot listen on {bind}: {hint}") from error
        remedy = _BIND_REMEDIES.get(error.errno or 0, "")
        raise StartError(f"cannot listen on {bind}:{settings.port}: {error.strerror}{remedy}") from error
