"""`python -m benchmarks.scale`: very many objects on SQLite and on etcd, and two servers on one etcd."""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.connection import Target
from benchmarks.load import Figure, Workers
from benchmarks.report import machine, report
from benchmarks.scale.etcd import etcd
from benchmarks.scale.fill import Templates, fill, templates
from benchmarks.scale.report import store, text_table
from benchmarks.scale.scenarios import KINDS, cpu, gets, memory, start
from benchmarks.scenarios import BY_NAME, CREATE, Scenario
from benchmarks.server import NO_LOOPS, Server, prepare, running
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import Store
from sampan.storage.translation import Translation, protobuf_form, translated

RESULTS = Path(__file__).parents[1] / "results"
PROTOBUF = "application/vnd.kubernetes.protobuf"
Figures = dict[Scenario, Figure]


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a store, and the options with which a server uses it."""

    kind: str
    directory: Path
    url: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Options of `sampan up` for this store."""
        if not self.url:
            return NO_LOOPS
        form = ("--storage-media-type", PROTOBUF) if self.kind == "kubernetes" else ()
        return (*NO_LOOPS, "--storage", "etcd", "--etcd-servers", self.url, *form)

    def store(self) -> Store:
        """Return the store, not yet open."""
        if not self.url:
            self.directory.mkdir(exist_ok=True)
            return SQLiteStore(self.directory / "state.db")
        store = EtcdStore(EtcdSettings((self.url,)))
        return translated(store, Translation(protobuf_form)) if self.kind == "kubernetes" else store


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all measurements. Return 1 if a request failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000, help="objects in a store (100000)")
    parser.add_argument(
        "--kinds", default=",".join(KINDS), help=f"stores, with commas between them ({','.join(KINDS)})"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a measurement of reads (4)")
    parser.add_argument("--no-gets", action="store_true", help="measure the starts alone")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="sampan-scale-") as name:
        directory = Path(name)
        made = made_by_a_server(directory / "made")
        for kind in filter(None, given.kinds.split(",")):
            with place(kind, directory) as at:
                figures |= measure_start(at, made, given.objects)
        if not given.no_gets:
            with place("etcd", directory / "gets") as at:
                figures |= measure_gets(at, given.seconds)
    about = machine() | {"objects": f"{given.objects:,}, as many ConfigMaps of 1.4 kB as Pods of 3.6 kB"}
    print(text_table(figures))
    report(f"stored in {store(figures, about, given.results)}")
    return 1 if any(figure.errors for figure in figures.values()) else 0


@contextmanager
def place(kind: str, directory: Path) -> Iterator[Place]:
    """Return the place of a new store."""
    directory = directory / kind
    directory.mkdir(parents=True)
    if kind == "sqlite":
        yield Place(kind, directory)
        return
    with etcd(directory / "etcd") as url:
        yield Place(kind, directory / "data", url)


def made_by_a_server(data: Path) -> Templates:
    """Return the objects of which many copies are made, as a server stores them."""
    with running(data) as server:
        prepare(server.target)
        return templates(server.target)


def measure_start(at: Place, made: Templates, count: int) -> Figures:
    """Fill the store and start a server on it."""
    report(f"{at.kind}: making {count:,} objects")
    with running(at.directory, *at.options) as server:
        empty_mb = server.resident_mb()
    asyncio.run(_filled(at, made, count))
    with running(at.directory, *at.options) as server:
        cpu_s = cpu_seconds(server)
        full_mb = server.resident_mb()
        with Workers(server.target, 1, 1) as workers:
            listed = workers.run(BY_NAME["podlist"], 1, 0.01)
        figure = Figure(server.started_s, errors=listed.errors, note=f"{cpu_s:.1f} s of CPU; {full_mb:.0f} MB resident")
    each_kb = (full_mb - empty_mb) * 1024 / count
    report(f"{at.kind}: {figure.value:.1f} s, {figure.note}")
    return {start(at.kind): figure, memory(at.kind): Figure(each_kb)}


async def _filled(at: Place, made: Templates, count: int) -> None:
    opened = at.store()
    await opened.open()
    try:
        await fill(opened, made, count)
    finally:
        await opened.close()


def measure_gets(at: Place, seconds: float) -> Figures:
    """Measure gets from one server, then from two servers at the same time."""
    figures: Figures = {}
    count = 1000
    with ExitStack() as stack:
        servers = [stack.enter_context(running(at.directory, *at.options))]
        prepare(servers[0].target)
        with Workers(servers[0].target, 1, 16) as workers:
            workers.run(BY_NAME[CREATE], count, 0)
        figures |= _gets(servers, count, seconds)
        servers.append(stack.enter_context(running(at.directory.with_name("data-2"), *at.options)))
        figures |= _gets(servers, count, seconds)
    return figures


def _gets(servers: list[Server], count: int, seconds: float) -> Figures:
    """Measure gets from these servers. One process makes load for each server."""
    before = sum(map(cpu_seconds, servers))
    with ThreadPoolExecutor(len(servers)) as threads:
        found = list(threads.map(lambda server: _load(server.target, count, seconds), servers))
    used = sum(map(cpu_seconds, servers)) - before
    operations = sum(figure.operations for figure in found)
    errors = sum(figure.errors for figure in found)
    rate = Figure(sum(figure.value for figure in found), operations, found[0].p50_ms, found[0].p99_ms, errors=errors)
    report(f"{len(servers)} servers: {rate.value:,.0f} gets/s, {used / operations * 1e6:.0f} µs of CPU each")
    return {gets(len(servers)): rate, cpu(len(servers)): Figure(used / operations * 1e6)}


def _load(target: Target, count: int, seconds: float) -> Figure:
    with Workers(target, 1, 8) as workers:
        return workers.run(BY_NAME["get"], count, seconds)


def cpu_seconds(server: Server) -> float:
    """Return the processor time in seconds that the server's process has used so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
