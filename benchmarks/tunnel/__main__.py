"""`python -m benchmarks.tunnel`: requests through the tunnel of a node, and the same requests directly.

Server and node are processes that are connected by TLS on the loopback interface.
"""

import argparse
import asyncio
import datetime as dt
import gc
import multiprocessing
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from benchmarks.load import Figure
from benchmarks.report import machine, report
from benchmarks.scale.report import store, text_table
from benchmarks.scenarios import Scenario
from benchmarks.tunnel import node
from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client import HttpClient, HttpClientSettings, HttpRequest, Tunnel, Upstream
from sampan.server.pki.certificates import KeyPair, make_ca, make_serving
from sampan.streams.tunnels import NodeTunnels, NodeWay
from sampan.wire.http1 import request_head

RESULTS = Path(__file__).parents[1] / "results"
PREFIX = "tunnel"
ADDRESS = "10.0.0.1"
"""Address of the Pod; the node of the benchmark connects each stream to its web server."""


def _scenario(name: str, title: str, goal: float, unit: str, *, more_is_better: bool = False) -> Scenario:
    return Scenario(name, title, None, 0, goal, unit=unit, lower_is_better=not more_is_better)


OPEN = _scenario("request", "request on an open connection, tunnel, median", 1.0, " ms")
OPEN_DIRECT = _scenario("request-direct", "the same, direct", 1.0, " ms")
NEW = _scenario("connection", "request on a new connection, tunnel, median", 2.0, " ms")
NEW_DIRECT = _scenario("connection-direct", "the same, direct", 2.0, " ms")
SPEED = _scenario("stream", "one response of 64 MiB, tunnel", 50.0, " MB/s", more_is_better=True)
SPEED_DIRECT = _scenario("stream-direct", "the same, direct", 50.0, " MB/s", more_is_better=True)
MEMORY = _scenario("idle", "memory of 1,000 idle streams in the server", 30.0, " MB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.tunnel", description=__doc__)
    parser.add_argument("--requests", type=int, default=1000, help="requests of each kind (1000)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(_measure(given.requests))
    path = store(figures, machine(), given.results, kind=PREFIX, title="tunnels of nodes")
    print(text_table(figures))
    report(f"stored in {path}")
    return 1 if any(_is_missed(scenario, figure) for scenario, figure in figures.items()) else 0


def _is_missed(scenario: Scenario, figure: Figure) -> bool:
    return figure.value > scenario.goal if scenario.lower_is_better else figure.value < scenario.goal


async def _measure(requests: int) -> dict[Scenario, Figure]:
    loop = asyncio.get_running_loop()
    accepted: asyncio.Future[Tunnel] = loop.create_future()
    now = dt.datetime.now(dt.UTC)
    ca = make_ca("benchmark", now)
    with tempfile.TemporaryDirectory() as name:
        context = _context(Path(name), make_serving(ca, ("127.0.0.1",), now))
    listener = await loop.create_server(lambda: Tunnel(made=accepted.set_result), "127.0.0.1", 0, ssl=context)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=node.run, args=(listener.sockets[0].getsockname()[1], ca.certificate_pem().decode(), theirs.send)
    )
    process.start()
    try:
        tunnels = NodeTunnels()
        async with TaskScope() as tasks:
            tasks.begin(tunnels.serve("b", await accepted))
            port: int = await asyncio.to_thread(ours.recv)
            tunnel = Upstream(ADDRESS, port, way=tunnels.to("b"))
            direct = Upstream("127.0.0.1", port)
            # First, because later streams would use memory that is already allocated.
            figures = {MEMORY: await _memory(tunnels.to("b"))}
            for (opened, new, speed), place in (
                ((OPEN, NEW, SPEED), tunnel),
                ((OPEN_DIRECT, NEW_DIRECT, SPEED_DIRECT), direct),
            ):
                figures[opened] = await _latency(place, requests, fresh=False)
                figures[new] = await _latency(place, requests, fresh=True)
                figures[speed] = await _throughput(place)
    finally:
        process.terminate()
        process.join()
        listener.close()
    order = (OPEN, OPEN_DIRECT, NEW, NEW_DIRECT, SPEED, SPEED_DIRECT, MEMORY)
    return {scenario: figures[scenario] for scenario in order}


def _context(directory: Path, pair: KeyPair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = directory / "server.pem"
    file.write_bytes(pair.certificate_pem() + pair.key_pem())
    context.load_cert_chain(file)
    return context


async def _latency(place: Upstream, requests: int, *, fresh: bool) -> Figure:
    client = HttpClient(HttpClientSettings(compression=False))
    head = request_head("GET", "/small", [("host", "h")])
    times = []
    for _ in range(requests):
        began = time.perf_counter()
        response = await client.send(place, HttpRequest("GET", "/small"), head, fresh=fresh)
        await response.read()
        times.append((time.perf_counter() - began) * 1000)
        if fresh:
            client.pool.drop_idle()
    await client.aclose()
    cut = statistics.quantiles(times, n=100)
    return Figure(statistics.median(times), requests, p50_ms=cut[49], p99_ms=cut[98])


async def _throughput(place: Upstream) -> Figure:
    client = HttpClient(HttpClientSettings(compression=False))
    head = request_head("GET", "/large", [("host", "h")])
    began, size = time.perf_counter(), 0
    response = await client.send(place, HttpRequest("GET", "/large", stream=True), head)
    async for piece in response.chunks():
        size += len(piece)
    took_s = time.perf_counter() - began
    await client.aclose()
    assert size == node.LARGE_BYTES, f"{size} bytes arrived"
    return Figure(size / took_s / 1e6, 1)


async def _memory(way: NodeWay | None, streams: int = 1000) -> Figure:
    assert way is not None
    gc.collect()
    before = _resident_bytes()
    held = [await way.connect(Tunnel, ADDRESS, 80, tls=None, server_name="") for _ in range(streams)]
    gc.collect()
    after = _resident_bytes()
    assert all(each is not None for each in held)
    for each in held:
        if each is not None:
            each.abort()
    return Figure((after - before) / 1e6, streams)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    sys.exit(main())
