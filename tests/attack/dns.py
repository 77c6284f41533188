"""Queries that cost the DNS server much, from any Pod, while a client waits for the control loops and for other names.

The attacker sends queries for a headless Service with thousands of endpoints, over UDP and pipelined over TCP. Each
flood runs in a separate process and ends by itself.
"""

import asyncio
import ipaddress
import multiprocessing
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final

from benchmarks.loop_fuzz.probe import Probe

from sampan.dns.message import HEADER, Question, Type
from sampan.dns.names import parse_name
from tests.attack.floods import judge
from tests.attack.report import Count
from tests.attack.server import Attacked, attacked
from tests.attack.wire import Client

ENDPOINTS: Final = 5000
PER_SLICE: Final = 1000
SECONDS: Final = 10.0
RESPONSE_MS_MAX: Final = 50.0
"""Longest time for one expensive response, if the server has nothing else to do."""
OTHER_MS_MAX: Final = 500.0
"""Longest time for the response to a query of another client during a flood over TCP."""
REACTION_S_MAX: Final = 2.0
"""Longest time until the control loops have reacted to a new namespace."""
SLICES: Final = "/apis/discovery.k8s.io/v1/namespaces/mine/endpointslices"
EXPENSIVE: Final = {
    "SRV": ("_p._tcp.crowd.mine.svc.cluster.local", Type.SRV),
    "ANY": ("_p._tcp.crowd.mine.svc.cluster.local", Type.ANY),
    "A": ("crowd.mine.svc.cluster.local", Type.A),
    "AAAA": ("crowd.mine.svc.cluster.local", Type.AAAA),
    "one name": ("e-1.crowd.mine.svc.cluster.local", Type.A),
    "PTR": ("1.0.64.100.in-addr.arpa", Type.PTR),
}
Flood = Callable[[int, float], None]


def query(name: str, type: int) -> bytes:
    """Return a query without EDNS."""
    return HEADER.pack(1, 0x0100, 1, 0, 0, 0) + Question(parse_name(name), type).encoded()


def datagrams(port: int, seconds: float) -> None:
    """Send SRV queries from many sockets, and read no answers."""
    data = query(*EXPENSIVE["SRV"])
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(20)]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for sock in sockets:
            with suppress(OSError):
                sock.sendto(data, ("127.0.0.1", port))
    for sock in sockets:
        sock.close()


def pipelined(port: int, seconds: float) -> None:
    """Send SRV queries on as many connections as the server accepts, and read the answers quickly."""
    one = query(*EXPENSIVE["SRV"])
    batch = (struct.pack("!H", len(one)) + one) * 20
    opened: list[socket.socket] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        while len(opened) < 60:
            opened.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            opened[-1].setblocking(False)
        for sock in list(opened):
            try:
                sock.send(batch)
                while sock.recv(1 << 20):
                    pass
            except BlockingIOError:
                continue
            except OSError:
                sock.close()
                opened.remove(sock)
    for sock in opened:
        sock.close()


FLOODS: Final[tuple[Flood, ...]] = (datagrams, pipelined)


async def crowd(admin: Client, count: int) -> None:
    """Create a headless Service with so many endpoints, none of which is dialled."""
    port = {"name": "p", "port": 80}
    await admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}})
    service = {"metadata": {"name": "crowd"}, "spec": {"clusterIP": "None", "ports": [port]}}
    reply = await admin.request("POST", "/api/v1/namespaces/mine/services", service)
    if reply.status not in (201, 409):
        raise RuntimeError(reply.message)
    first = ipaddress.IPv4Address("100.64.0.1")
    for start in range(0, count, PER_SLICE):
        endpoints = [
            {"addresses": [str(first + number)], "hostname": f"e-{number}", "conditions": {"ready": True}}
            for number in range(start, min(count, start + PER_SLICE))
        ]
        metadata = {"name": f"crowd-{start}", "labels": {"kubernetes.io/service-name": "crowd"}}
        slice = {"metadata": metadata, "addressType": "IPv4", "endpoints": endpoints, "ports": [port]}
        reply = await admin.request("POST", SLICES, slice)
        if reply.status not in (201, 409):
            raise RuntimeError(reply.message)


async def response_ms(port: int, name: str, type: int, timeout_s: float = 30.0) -> float:
    """Return the time of one query over UDP, in milliseconds. Raises `TimeoutError`."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.connect(("127.0.0.1", port))
        began = time.perf_counter()
        async with asyncio.timeout(timeout_s):
            await loop.sock_sendall(sock, query(name, type))
            await loop.sock_recv(sock, 65535)
        return (time.perf_counter() - began) * 1000


async def _ready(port: int) -> None:
    for _ in range(300):
        with suppress(OSError, TimeoutError):
            await response_ms(port, "kubernetes.default.svc.cluster.local", Type.A, timeout_s=1.0)
            return
        await asyncio.sleep(0.1)
    raise RuntimeError("the DNS server does not answer")


async def reaction_s(admin: Client, number: int) -> float:
    """Return the time until a new namespace has its service account, which a control loop creates."""
    name = f"reaction-{number}"
    began = time.perf_counter()
    await admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    for _ in range(3000):
        if (await admin.request("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default")).status == 200:
            return time.perf_counter() - began
        await asyncio.sleep(0.02)
    raise RuntimeError("the control loops do not react")


@asynccontextmanager
async def _flooded(flood: Flood, port: int, seconds: float) -> AsyncIterator[None]:
    process = multiprocessing.get_context("spawn").Process(target=flood, args=(port, seconds), daemon=True)
    process.start()
    try:
        await asyncio.sleep(1.0)
        yield
    finally:
        process.kill()
        process.join()


async def measure_queries(target: Attacked, port: int, count: Count) -> None:
    """Send each expensive query a few times, one after the other."""
    async with target.admin() as admin:
        await crowd(admin, ENDPOINTS)
    await _ready(port)
    await asyncio.sleep(1.0)  # until the caches of the DNS server have all endpoints
    for name, (question, type) in EXPENSIVE.items():
        times = sorted([await response_ms(port, question, type) for _ in range(10)])
        print(f"    {name:24} {ENDPOINTS} endpoints: median {times[5]:.1f} ms, longest {times[-1]:.1f} ms", flush=True)
        count.note(name, True, f"median {times[5]:.0f} ms" if times[5] > RESPONSE_MS_MAX else "")


async def measure_flood(target: Attacked, port: int, flood: Flood, seconds: float) -> str:
    """Measure the control loops, the API and other queries during a flood. Return what was too slow, or nothing."""
    reactions, ordinary, lost = [], [], 0
    async with target.admin() as admin, _flooded(flood, port, seconds + 2.0):
        with Probe(target.server.target, target.server.pid) as probe:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                reactions.append(await reaction_s(admin, time.monotonic_ns()))
                try:
                    name = "kubernetes.default.svc.cluster.local"
                    ordinary.append(await response_ms(port, name, Type.A, timeout_s=2.0))
                except TimeoutError:
                    lost += 1
    longest = max(ordinary, default=0.0)
    api = sorted(wait.ms for wait in probe.waits)
    print(
        f"    {flood.__name__:24} {len(reactions)} namespaces, longest reaction {max(reactions):.2f} s; other queries: "
        f"longest {longest:.0f} ms, {lost} of {lost + len(ordinary)} lost; API p99 {api[len(api) * 99 // 100]:.0f} ms",
        flush=True,
    )
    slow = f"the control loops took {max(reactions):.1f} s" if max(reactions) > REACTION_S_MAX else ""
    # Over UDP the kernel drops datagrams of all clients alike, as for every DNS server.
    late = f"another query took {longest:.0f} ms" if flood is pipelined and (longest > OTHER_MS_MAX or lost) else ""
    return slow or late or judge(list(probe.waits))


@contextmanager
def server_with_dns() -> Iterator[tuple[Attacked, int]]:
    """Run a server with its control loops and DNS; yield the port of the DNS server, too."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with attacked("--dns", f"--dns-address=127.0.0.1:{port}", "--nodes=0") as target:
        yield target, port


async def attack_dns(target: Attacked, port: int, seconds: float = SECONDS) -> Count:
    """Run all attacks."""
    count = Count("dns: expensive names")
    await measure_queries(target, port, count)
    for flood in FLOODS:
        finding = await measure_flood(target, port, flood, seconds)
        if finding:  # A flood that is too costly is so again; a machine that stood still for other reasons is not.
            finding = await measure_flood(target, port, flood, seconds)
        count.note(flood.__name__, True, finding)
    return count
