"""Floods: many connections of one client at once. Each function is one flood; it runs in a separate process."""

import multiprocessing
import select
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from benchmarks.connection import Target

HANDSHAKES: Final = 1000
FRAME_CONNECTIONS: Final = 100
PIPELINED: Final = 2000
_FRAMES: Final = 290
"""PING frames that a connection may send before its budget is spent."""
_PING: Final = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8)
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_WAIT_S: Final = 10.0


def _context(*protocols: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def _hellos(target: Target, count: int) -> list[tuple[socket.socket, bytes]]:
    """Open connections, each with a first TLS message that is not sent yet."""
    context = _context("http/1.1")
    found = []
    for _ in range(count):
        outgoing = ssl.MemoryBIO()
        client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=target.host)
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
        found.append((socket.create_connection((target.host, target.port)), outgoing.read()))
    return found


def handshakes(target: Target) -> None:
    """Begin TLS handshakes on many open connections at the same time, and wait for the server's part."""
    opened = _hellos(target, HANDSHAKES)
    for sock, hello in opened:
        sock.send(hello)
    waiting = {sock.fileno() for sock, _ in opened}
    until = time.monotonic() + _WAIT_S
    poll = select.poll()
    for descriptor in waiting:
        poll.register(descriptor, select.POLLIN)
    while waiting and time.monotonic() < until:
        for descriptor, _ in poll.poll(1000):
            waiting.discard(descriptor)
            poll.unregister(descriptor)
    for sock, _ in opened:
        sock.close()


def frames(target: Target) -> None:
    """Send the control frames of a whole budget on many HTTP/2 connections at the same time."""
    context = _context("h2")
    opened = [
        context.wrap_socket(socket.create_connection((target.host, target.port)), server_hostname=target.host)
        for _ in range(FRAME_CONNECTIONS)
    ]
    for sock in opened:
        sock.send(_PREFACE)
    time.sleep(0.5)
    for sock in opened:
        with suppress(OSError):
            sock.send(_PING * _FRAMES)
    time.sleep(2)
    for sock in opened:
        sock.close()


def refused(target: Target) -> None:
    """Send pipelined requests without credentials on some connections."""
    context = _context("http/1.1")
    request = b"GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\n\r\n"
    opened = [
        context.wrap_socket(socket.create_connection((target.host, target.port)), server_hostname=target.host)
        for _ in range(20)
    ]
    for sock in opened:
        sock.settimeout(0.01)
    left = dict.fromkeys(opened, request * (PIPELINED // len(opened)))
    for sock in opened:
        with suppress(OSError):
            sock.send(left[sock])
    until = time.monotonic() + 3
    while time.monotonic() < until:
        for sock in opened:
            with suppress(OSError):
                sock.recv(1 << 20)
    for sock in opened:
        sock.close()


FLOODS: Final[dict[str, Callable[[Target], None]]] = {
    f"{HANDSHAKES} TLS handshakes at once": handshakes,
    f"{FRAME_CONNECTIONS} connections with {_FRAMES} PING frames each": frames,
    f"{PIPELINED} pipelined requests without credentials": refused,
}


def run(name: str, target: Target) -> None:
    """Run one flood to its end."""
    process = multiprocessing.get_context("spawn").Process(target=FLOODS[name], args=(target,), daemon=True)
    process.start()
    process.join()
