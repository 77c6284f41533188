"""Class e: clients that request much and do not read it, or leave after the first bytes.

Each attack is a function that runs in a separate process and ends by itself. Meanwhile the resident memory of the
server and the waits of another client are measured, and the memory again after a rest.
"""

import multiprocessing
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from benchmarks.loop_fuzz.probe import Probe

from tests.attack.floods import PREFACE, connected, frame, judge, literal
from tests.attack.model import grant
from tests.attack.report import Count
from tests.attack.server import Attacked, give, token_of
from tests.attack.wire import Address, Client

SECONDS: Final = 120.0
REST_S: Final = 60.0
GROWTH_MB_MAX: Final = 250.0
RESTED_MB_MAX: Final = 30.0
SAMPLE_S: Final = 0.1
MAPS: Final = "/api/v1/namespaces/mine/configmaps"
LARGE_MAPS: Final = 16
LARGE_BYTES: Final = 650_000
"""Together the ConfigMaps have 10 MB."""
READER: Final = 0
"""User that may read the ConfigMaps."""
POWERLESS: Final = 1
"""User without rights."""
STREAMS: Final = 100
BUFFER_BYTES: Final = 4096
Attack = Callable[[Address, float], None]


async def prepare_large(admin: Client, maps: int = LARGE_MAPS, size_bytes: int = LARGE_BYTES) -> None:
    """Create the ConfigMaps that the attacks request."""
    for index in range(maps):
        made = {"metadata": {"name": f"large-{index}", "labels": {"large": ""}}, "data": {"a": "x" * size_bytes}}
        reply = await admin.request("POST", MAPS, made)
        if reply.status not in (201, 409):
            raise RuntimeError(reply.message)


def _until(seconds: float) -> Iterator[int]:
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        yield number
        number += 1


def _get(target: str, user: int, *headers: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", "Host: a", f"Authorization: Bearer {token_of(user)}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def _small(address: Address, *protocols: str) -> ssl.SSLSocket:
    """Return a connection whose kernel buffers little that is not read."""
    return connected(address, *protocols, receive_buffer_bytes=BUFFER_BYTES)


def _hold(address: Address, seconds: float, count: int, request: Callable[[int], bytes], *protocols: str) -> None:
    """Keep so many connections open that have sent this and read nothing. A connection that was cut is replaced."""
    opened: dict[int, ssl.SSLSocket] = {}
    number = 0
    for _ in _until(seconds):
        for place in range(count):
            sock = opened.get(place)
            if sock is None:
                with suppress(OSError):
                    sock = opened[place] = _small(address, *protocols)
                    sock.send(request(number))
                number += 1
            elif _is_cut(sock):
                sock.close()
                del opened[place]
        time.sleep(0.2)
    for sock in opened.values():
        sock.close()


def _is_cut(sock: ssl.SSLSocket) -> bool:
    try:
        return not socket.socket.recv(_plain(sock), 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _plain(sock: ssl.SSLSocket) -> socket.socket:
    return sock


def _request(target: str, user: int, *headers: tuple[str, str]) -> bytes:
    fields = [(":method", "GET"), (":scheme", "https"), (":path", target), (":authority", "a")]
    fields += [("authorization", f"Bearer {token_of(user)}"), *headers]
    return b"".join(literal(name, value) for name, value in fields)


def _streams(target: Callable[[int], str], user: int, *headers: tuple[str, str]) -> Callable[[int], bytes]:
    """Return what opens 100 streams with a window of 0."""
    closed = frame(4, 0, 0, struct.pack(">HI", 4, 0))

    def sent(number: int) -> bytes:
        requests = (
            frame(1, 5, 2 * index + 1, _request(target(number * STREAMS + index), user, *headers))
            for index in range(STREAMS)
        )
        return PREFACE + closed + b"".join(requests)

    return sent


def _selected(number: int) -> str:
    return f"{MAPS}?labelSelector=large%2Cother!%3Dv{number}"


def closed_windows(address: Address, seconds: float) -> None:
    """List on 5 HTTP/2 connections with 100 streams each, whose window is 0."""
    _hold(address, seconds, 5, _streams(lambda _: MAPS, READER), "h2")


def different_lists(address: Address, seconds: float) -> None:
    """List with different selectors on 500 streams, whose window is 0."""
    _hold(address, seconds, 5, _streams(_selected, READER), "h2")


def compressed_lists(address: Address, seconds: float) -> None:
    """List with different selectors and gzip on 500 streams, whose window is 0."""
    _hold(address, seconds, 5, _streams(_selected, READER, ("accept-encoding", "gzip")), "h2")


def unread_lists(address: Address, seconds: float) -> None:
    """List on 200 connections of HTTP/1.1."""
    _hold(address, seconds, 200, lambda _: _get(MAPS, READER))


def unread_forms(address: Address, seconds: float) -> None:
    """List in all forms on 200 connections, with different selectors."""
    accepted = (
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        "application/vnd.kubernetes.protobuf",
        "application/yaml",
        "application/cbor",
    )
    objects = "&includeObject=Object"
    _hold(
        address,
        seconds,
        200,
        lambda number: _get(
            _selected(number) + (objects if number % len(accepted) == 0 else ""),
            READER,
            f"Accept: {accepted[number % len(accepted)]}",
        ),
    )


def unread_watches(address: Address, seconds: float) -> None:
    """Watch from the beginning on 100 connections."""
    _hold(address, seconds, 100, lambda _: _get(f"{MAPS}?watch=1", READER))


def unread_selected_watches(address: Address, seconds: float) -> None:
    """Watch from the beginning, with bookmarks and different selectors, on 100 streams of each of 2 connections."""
    query = "&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    _hold(address, seconds, 2, _streams(lambda number: _selected(number) + query, READER), "h2")


def unread_websockets(address: Address, seconds: float) -> None:
    """Watch from the beginning on 100 WebSockets."""
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    _hold(address, seconds, 100, lambda _: _get(f"{MAPS}?watch=1", READER, *upgrade, key))


def unread_documents(address: Address, seconds: float) -> None:
    """Request the large documents that need no rights, on 500 streams and 100 connections."""
    paths = ("/openapi/v2", "/openapi/v3/apis/apps/v1", "/openapi/v3/api/v1", "/api", "/apis")

    def path(number: int) -> str:
        return f"{paths[number % len(paths)]}?a={number}"

    packed = "Accept-Encoding: gzip"
    half = threading.Thread(
        target=_hold, args=(address, seconds, 100, lambda number: _get(path(number), POWERLESS, packed))
    )
    half.start()
    _hold(address, seconds, 5, _streams(path, POWERLESS), "h2")
    half.join()


def abandoned_gets(address: Address, seconds: float) -> None:
    """Request lists of 10 MB, read a few bytes and disconnect."""
    _abandon(address, seconds, lambda number: _get(_selected(number), READER))


def abandoned_watches(address: Address, seconds: float) -> None:
    """Watch, read a few bytes and disconnect."""
    _abandon(address, seconds, lambda _: _get(f"{MAPS}?watch=1", READER))


def abandoned_documents(address: Address, seconds: float) -> None:
    """Request documents that need no rights, read a few bytes and disconnect."""
    _abandon(address, seconds, lambda _: _get("/openapi/v2", POWERLESS, "Accept-Encoding: gzip"))


def _abandon(address: Address, seconds: float, request: Callable[[int], bytes]) -> None:
    for number in _until(seconds):
        with suppress(OSError), _small(address) as sock:
            sock.send(request(number))
            sock.recv(10)
            time.sleep(0.02)


def slow_readers(address: Address, seconds: float) -> None:
    """Read lists in pieces of 4 KiB, with pauses, on 200 connections."""
    opened: list[ssl.SSLSocket] = []
    for number in _until(seconds):
        while len(opened) < 200:
            opened.append(_small(address))
            opened[-1].send(_get(_selected(number), READER))
        for sock in list(opened):
            sock.settimeout(0.001)
            try:
                if not sock.recv(4096):
                    raise ConnectionError
            except TimeoutError:
                pass
            except OSError:
                opened.remove(sock)
                sock.close()
        time.sleep(0.2)
    for sock in opened:
        sock.close()


ATTACKS: Final[tuple[Attack, ...]] = (
    closed_windows,
    different_lists,
    compressed_lists,
    unread_lists,
    unread_forms,
    unread_watches,
    unread_selected_watches,
    unread_websockets,
    unread_documents,
    abandoned_gets,
    abandoned_watches,
    abandoned_documents,
    slow_readers,
)


class _Peak:
    """Largest resident memory during a `with` block, in MB."""

    def __init__(self, attacked: Attacked) -> None:
        self._attacked = attacked
        self.mb = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Sample until the end of the block."""
        ended = threading.Event()

        def sample() -> None:
            while not ended.wait(SAMPLE_S):
                self.mb = max(self.mb, self._attacked.server.resident_mb())

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


async def prepare_unread(attacked: Attacked, maps: int = LARGE_MAPS) -> None:
    """Create the objects, and give the reader its right."""
    async with attacked.admin() as admin:
        await admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}})
        await prepare_large(admin, maps)
    await give(attacked, {READER: [grant("list watch get", "", "configmaps", "mine")]})


def hold_unread(
    attacked: Attacked,
    seconds: float = SECONDS,
    rest_s: float = REST_S,
    attacks: Sequence[Attack] = ATTACKS,
    *,
    rested_mb_max: float = RESTED_MB_MAX,
) -> Count:
    """Run the attacks one after another."""
    count = Count("e: responses that are not read")
    spawn = multiprocessing.get_context("spawn")
    idle = attacked.server.resident_mb()
    for attack in attacks:
        peak = _Peak(attacked)
        with Probe(attacked.server.target, attacked.server.pid) as probe, peak.measured():
            process = spawn.Process(target=attack, args=(attacked.address, seconds), daemon=True)
            process.start()
            process.join(seconds + 60)
            ended = process.exitcode == 0
            process.kill()
        time.sleep(rest_s)
        rested, waits = attacked.server.resident_mb(), list(probe.waits)
        ms = sorted(wait.ms for wait in waits) or [0.0]
        print(
            f"    {attack.__name__:24} {len(waits):6} requests, p99 {ms[int(len(ms) * 0.99)]:4.0f} ms, "
            f"longest {ms[-1]:5.0f} ms, {idle:.0f} MB, at most {peak.mb:.0f}, after {rest_s:g} s {rested:.0f}",
            flush=True,
        )
        count.note(
            attack.__name__, True, judge(waits) or _grown(idle, peak.mb, rested, rested_mb_max) or _unended(ended=ended)
        )
    return count


def _grown(idle: float, peak: float, rested: float, rested_mb_max: float) -> str:
    if peak - idle > GROWTH_MB_MAX:
        return f"grew from {idle:.0f} to {peak:.0f} MB"
    return f"kept {rested - idle:.0f} MB" if rested - idle > rested_mb_max else ""


def _unended(*, ended: bool) -> str:
    return "" if ended else "the attack did not end by itself"
