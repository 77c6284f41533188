"""Client side of the load: HTTP/1.1 over TLS on plain sockets, with as little work per request as possible.

One thread serves many connections by poll(2); each connection has one open request at a time.
"""

import select
import socket
import ssl
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

POLL_TIMEOUT_MS = 60_000
_BUFFER_BYTES = 256 << 10
_HEAD_END = b"\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Target:
    """A server to load."""

    host: str
    port: int
    token: str


@dataclass(slots=True)
class Load:
    """Results of a number of requests. Times are seconds of the monotonic clock, which all processes share."""

    started: float = 0.0
    ended: float = 0.0
    latencies_ms: "array[float]" = field(default_factory=lambda: array("d"))
    sent: "array[float]" = field(default_factory=lambda: array("d"))
    """Time at which each request was sent, in order."""
    size_bytes: int = 0
    errors: int = 0
    first_error: str = ""


class Connection:
    """One TLS connection. `receive` reads the available bytes and returns True if the response is complete."""

    __slots__ = ("_end", "_left", "began", "head", "size", "sock")

    def __init__(self, target: Target) -> None:
        plain = socket.create_connection((target.host, target.port), timeout=30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = _context().wrap_socket(plain, server_hostname=target.host)
        self.sock.setblocking(False)
        self._begin()

    def send(self, request: bytes) -> None:
        """Send a request. Assumption: it fits into the socket's buffer."""
        self._begin()
        self.began = time.monotonic()
        self.sock.send(request)

    def receive(self, buffer: bytearray) -> bool:
        """Read the available bytes. Return True if the response is complete.

        Raises `ConnectionError` if the server closed it.
        """
        while True:
            try:
                count = self.sock.recv_into(buffer)
            except ssl.SSLWantReadError:
                return False
            if not count:
                raise ConnectionError("the server closed the connection")
            self.size += count
            if self._take(buffer, count):
                return True

    @property
    def status(self) -> int:
        """Status code of the response."""
        return int(self.head[9:12])

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()

    def _begin(self) -> None:
        self.began = 0.0
        self.head = b""
        self.size = 0
        self._left = -1
        self._end = b""

    def _take(self, buffer: bytearray, count: int) -> bool:
        """Parse received bytes. Return True if the response is complete.

        `_left`: missing bytes of the body (-1: unknown).
        """
        if self._left >= 0:
            self._left -= count
            return self._left <= 0
        self.head += buffer[:count] if not self._end else b""
        if not self._end:
            at = self.head.find(_HEAD_END)
            if at < 0:
                return False
            length = self.head.find(b"ontent-Length: ", 0, at)
            if length < 0:
                length = self.head.find(b"ontent-length: ", 0, at)
            if length >= 0:
                body = int(self.head[length + 15 : self.head.find(b"\r", length)])
                self._left = body - (len(self.head) - at - 4)
                return self._left <= 0
            if self.head[9:12] == b"304":
                return True
        # Chunked: complete when the last chunk has come. Nothing follows it, as no request is sent ahead.
        self._end = (self._end + bytes(buffer[max(0, count - 5) : count]))[-5:]
        return self._end == _LAST_CHUNK


def drive_steadily(connections: list[Connection], requests: Iterator[bytes], rate: float) -> Load:
    """Send `rate` requests a second, each on a free connection.

    The latency of a late request counts from its due time.
    """
    load = Load(started=time.monotonic())
    poll = select.poll()
    free = list(connections)
    busy: dict[int, Connection] = {}
    buffer = bytearray(_BUFFER_BYTES)
    request = next(requests, None)
    while busy or request is not None:
        due = load.started + len(load.sent) / rate
        while request is not None and free and due <= time.monotonic():
            connection = free.pop()
            connection.send(request)
            connection.began = due
            load.sent.append(due)
            poll.register(connection.sock.fileno(), select.POLLIN)
            busy[connection.sock.fileno()] = connection
            request, due = next(requests, None), load.started + len(load.sent) / rate
        waits_for_time = request is not None and free
        for number, _ in poll.poll(max(0.0, due - time.monotonic()) * 1000 if waits_for_time else POLL_TIMEOUT_MS):
            if busy[number].receive(buffer):
                poll.unregister(number)
                free.append(busy.pop(number))
                _note(load, free[-1])
    load.ended = time.monotonic()
    return load


def drive(connections: list[Connection], requests: Iterator[bytes]) -> Load:
    """Send all requests, one at a time on each connection."""
    load = Load(started=time.monotonic())
    poll = select.poll()
    by_number = {connection.sock.fileno(): connection for connection in connections}
    buffer = bytearray(_BUFFER_BYTES)
    busy = 0
    for number, connection in by_number.items():
        request = next(requests, None)
        if request is not None:
            poll.register(number, select.POLLIN)
            connection.send(request)
            load.sent.append(connection.began)
            busy += 1
    while busy:
        ready = poll.poll(POLL_TIMEOUT_MS)
        if not ready:
            raise TimeoutError("no answer")
        for number, _ in ready:
            connection = by_number[number]
            if not connection.receive(buffer):
                continue
            _note(load, connection)
            request = next(requests, None)
            if request is None:
                poll.unregister(number)
                busy -= 1
            else:
                connection.send(request)
                load.sent.append(connection.began)
    load.ended = time.monotonic()
    return load


def _note(load: Load, connection: Connection) -> None:
    if connection.status >= 300:
        load.errors += 1
        load.first_error = load.first_error or connection.head[:600].decode("latin-1")
    else:
        load.latencies_ms.append((time.monotonic() - connection.began) * 1000)
        load.size_bytes += connection.size


def build_request(target: Target, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    """Return the bytes of a request. Header names have underscores. Responses may be compressed, as for Go clients."""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {target.host}:{target.port}",
        f"Authorization: Bearer {target.token}",
        "User-Agent: bench",
        "Accept-Encoding: gzip",
    ]
    lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def _context() -> ssl.SSLContext:
    """Return a TLS context that accepts any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
