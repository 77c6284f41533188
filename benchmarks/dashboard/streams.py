"""Watchers of one list: pages with the stream of the dashboard, or plain HTTP watches. Both receive rows of Tables.

Concurrency: a thread reads all sockets until `close`. The caller writes objects in the meantime.
"""

import base64
import json
import os
import select
import socket
import ssl
import threading
from collections.abc import Sequence
from typing import Final

from benchmarks import objects
from benchmarks.connection import Connection, Target, build_request
from benchmarks.dashboard.session import Session

_TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
_PATH: Final = f"{objects.CONFIG_MAPS}?watch=1"
_CREDIT: Final = 10_000
_POLL_MS: Final = 100
_READ_BYTES: Final = 1 << 16


class Watchers:
    """Connections that watch ConfigMaps: pages of these sessions in turn; without sessions, plain watches."""

    def __init__(self, target: Target, count: int, sessions: Sequence[Session] = ()) -> None:
        self.received_bytes = 0
        self._connections = [Connection(target) for _ in range(count)]
        for i, each in enumerate(self._connections):
            each.sock.setblocking(True)
            each.sock.sendall(_upgrade(target, sessions[i % len(sessions)]) if sessions else _watch(target))
            if sessions:
                _expect_switch(each.sock)
                each.sock.sendall(_frame({"op": "open", "id": 1, "path": _PATH, "accept": _TABLE, "credit": _CREDIT}))
            each.sock.setblocking(False)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._read, name="watchers")
        self._thread.start()

    def close(self) -> None:
        """End the watches."""
        self._ends.set()
        self._thread.join()
        for each in self._connections:
            each.close()

    def _read(self) -> None:
        poll = select.poll()
        sockets = {each.sock.fileno(): each.sock for each in self._connections}
        for number in sockets:
            poll.register(number, select.POLLIN)
        while not self._ends.is_set():
            for number, _ in poll.poll(_POLL_MS):
                self.received_bytes += self._taken(sockets[number])

    def _taken(self, source: socket.socket) -> int:
        taken = 0
        while True:
            try:
                some = len(source.recv(_READ_BYTES))
            except ssl.SSLWantReadError:
                return taken
            if some == 0:
                raise ConnectionError("the server ended a watch")
            taken += some


def _watch(target: Target) -> bytes:
    return build_request(target, "GET", _PATH, accept=_TABLE)


def _upgrade(target: Target, session: Session) -> bytes:
    host = f"{target.host}:{target.port}"
    lines = [
        "GET /dashboard/stream HTTP/1.1",
        f"Host: {host}",
        f"Origin: https://{host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        f"Cookie: {session.name}={session.value}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def _expect_switch(source: socket.socket) -> None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        some = source.recv(1)
        if not some:
            break
        head += some
    if b" 101 " not in head:
        raise ConnectionError(f"the server refused the stream: {head[:200]!r}")


def _frame(message: object) -> bytes:
    """Return a masked frame of WebSocket with a text below 64 kB."""
    content = json.dumps(message).encode()
    mask = os.urandom(4)
    length = bytes([0x80 | len(content)]) if len(content) < 126 else bytes([0x80 | 126]) + len(content).to_bytes(2)
    return b"\x81" + length + mask + bytes(each ^ mask[i % 4] for i, each in enumerate(content))
