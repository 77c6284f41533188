"""A TCP relay in front of the server, for tests that lose their connection.

Concurrency: the listener is one thread, each connection two more (one for each direction). A thread ends when either
side of its connection does; `close` ends them all. The listener's backlog is the only queue.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CHUNK_BYTES = 65536
WITHIN_S = 60.0


class Relay:
    """Passes on bytes between its port and the server's."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self.port: int = self._listener.getsockname()[1]

    def start(self) -> None:
        """Begin to accept."""
        self._threads[0].start()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Cut every connection. Those that are made meanwhile get no answer before the end of the block."""
        with self._lock:
            for end in self._sockets:
                _shut(end)
            self._sockets.clear()
            yield

    def wait_idle(self) -> None:
        """Wait until the other side has ended every connection."""
        for thread in self._threads[1:]:
            thread.join(WITHIN_S)
            assert not thread.is_alive(), "a connection is still there"

    def close(self) -> None:
        """Cut everything and wait for the threads."""
        _shut(self._listener)
        self._threads[0].join()
        with self.cut():
            pass
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                server = socket.create_connection(("127.0.0.1", self._server_port))
                self._sockets += [client, server]
            pair = threading.Thread(target=self._serve, args=(client, server))
            self._threads.append(pair)
            pair.start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        responses = threading.Thread(target=_pump, args=(server, client))
        responses.start()
        _pump(client, server)
        responses.join()
        client.close()
        server.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on bytes until one side ends, then end the other."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            target.sendall(data)
    _shut(source)
    _shut(target)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def relaying(port: int) -> Iterator[Relay]:
    """A relay until the end of the block."""
    relay = Relay(port)
    relay.start()
    try:
        yield relay
    finally:
        relay.close()
