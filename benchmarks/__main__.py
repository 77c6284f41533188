"""`python -m benchmarks`: measures the server's speed by scenario and compares it with kube-apiserver's.

Separate processes make the load, over HTTP/1.1 and TLS. The store is durable. Results go to benchmarks/results/.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.connection import Target
from benchmarks.dashboard.__main__ import main as dashboard
from benchmarks.load import Figure, Workers
from benchmarks.node.__main__ import main as node
from benchmarks.node.policies import main as policies
from benchmarks.project.__main__ import main as project
from benchmarks.proxy.__main__ import main as proxy
from benchmarks.report import machine, report, store, text_table
from benchmarks.scale.__main__ import main as scale
from benchmarks.scale.etcd import etcd
from benchmarks.scenarios import BY_NAME, CREATE, FAN_OUT, FULL_N, MEMORY, SCENARIOS, START, STEADY
from benchmarks.server import NO_LOOPS, Server, prepare, running
from benchmarks.testing.__main__ import main as testing
from benchmarks.toolkit.__main__ import main as toolkit
from benchmarks.tunnel.__main__ import main as tunnel

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line."""

    scenarios: tuple[str, ...]
    n: int
    seconds: float
    watchers: int
    connections: int
    processes: int
    start_objects: int
    start_runs: int
    results: Path
    storage: str
    url: str
    token: str


def options_of(arguments: Sequence[str] | None) -> Options:
    """Read the command line. Raises `SystemExit`."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument("--scenarios", default=",".join(names), help=f"comma-separated, of {', '.join(names)}")
    parser.add_argument("--n", type=int, help="objects of a scenario (5000)")
    parser.add_argument("--seconds", type=float, help="length of a scenario that only reads (4)")
    parser.add_argument("--watchers", type=int, help="streams of the fan-out (100)")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--processes", type=int, default=2, help="processes that make the load")
    parser.add_argument("--start-objects", type=int, help="objects in the store of the start (10000)")
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    parser.add_argument("--storage", choices=("sqlite", "etcd"), default="sqlite", help="of our own server")
    parser.add_argument("--url", default="", help="measure this server (https://host:port) instead of one of our own")
    parser.add_argument("--token", default="", help="its bearer token")
    parser.add_argument("--toolkit", action="store_true", help="measure the toolkit, not the server; see there --help")
    parser.add_argument("--scale", action="store_true", help="measure with very many objects; see there --help")
    parser.add_argument("--proxy", action="store_true", help="measure a service proxy; needs root, see there --help")
    parser.add_argument("--node", action="store_true", help="measure a node with containers; see there --help")
    parser.add_argument("--policies", action="store_true", help="measure NetworkPolicies; needs root, see there --help")
    parser.add_argument("--testing", action="store_true", help="measure clusters of tests; see there --help")
    parser.add_argument("--tunnel", action="store_true", help="measure tunnels of nodes; see there --help")
    parser.add_argument("--project", action="store_true", help="measure the commands on projects; see there --help")
    parser.add_argument("--dashboard", action="store_true", help="measure the dashboard in Chromium; see there --help")
    given = parser.parse_args(arguments)
    scenarios = tuple(name for name in given.scenarios.split(",") if name)
    unknown = [name for name in scenarios if name not in BY_NAME]
    if unknown:
        parser.error(f"unknown scenarios: {', '.join(unknown)} (there are {', '.join(names)})")
    n = given.n or (200 if given.quick else FULL_N)
    return Options(
        tuple(name for name in names if name in scenarios),
        n,
        given.seconds or (0.3 if given.quick else 4.0),
        given.watchers or (10 if given.quick else 100),
        given.connections,
        given.processes,
        given.start_objects or (2 * n if given.quick else 10_000),
        1 if given.quick else 5,
        given.results,
        given.storage,
        given.url,
        given.token,
    )


def measure(options: Options, target: Target, server: Server | None) -> dict[str, Figure]:
    """Measure the scenarios on one server, in order."""
    figures: dict[str, Figure] = {}
    there: set[str] = set()
    prepare(target)
    idle_mb = server.resident_mb() if server else 0.0
    with Workers(target, options.processes, options.connections) as workers:
        for name in options.scenarios:
            scenario = BY_NAME[name]
            if scenario.build is None:
                continue
            if scenario.needs and scenario.needs not in there:
                report(f"{name}: making {options.n:,} objects first")
                workers.run(BY_NAME[scenario.needs], options.n, 0)
                there.add(scenario.needs)
            if name == FAN_OUT:
                figure = workers.fan_out(max(options.n // 10, 1), options.watchers)
            elif name == STEADY:
                figure = workers.steady(max(options.n * 2 // 5, 1), options.watchers)
            else:
                figure = workers.run(scenario, options.n, options.seconds)
            there.add(name)
            figures[name] = figure
            report(progress(name, figure))
        if server and MEMORY in options.scenarios:
            note = f"{idle_mb:.0f} MB before the first object"
            figures[MEMORY] = Figure(server.resident_mb(), note=note)
            report(progress(MEMORY, figures[MEMORY]))
    return figures


def measure_start(options: Options, data: Path) -> Figure:
    """Measure the seconds from the command to `ready` on a store with objects: the best of some runs.

    The note has the memory right after the start.
    """
    data.mkdir()
    with stored(options.storage, data) as how:
        return _measured_start(options, data, how)


def _measured_start(options: Options, data: Path, how: Sequence[str]) -> Figure:
    count = options.start_objects
    report(f"start: making a store of {count:,} objects")
    with running(data, *how) as server:
        prepare(server.target)
        with Workers(server.target, options.processes, options.connections) as workers:
            errors = workers.run(BY_NAME[CREATE], count, 0).errors
    took: list[float] = []
    resident_mb = 0.0
    for _ in range(options.start_runs):
        with running(data, *how) as server:
            took.append(server.started_s)
            resident_mb = server.resident_mb()
    runs = ", ".join(f"{seconds:.2f}" for seconds in took)
    note = f"{count:,} objects; runs: {runs} s; {resident_mb:.0f} MB resident"
    figure = Figure(min(took), errors=errors, note=note)
    report(progress(START, figure))
    return figure


@contextmanager
def stored(storage: str, directory: Path) -> Iterator[Sequence[str]]:
    """Return the options of a server without control loops on a store of this kind.

    An etcd has its data in the directory.
    """
    if storage == "sqlite":
        yield NO_LOOPS
        return
    with etcd(directory / "etcd") as url:
        yield (*NO_LOOPS, "--storage", "etcd", "--etcd-servers", url)


def progress(name: str, figure: Figure) -> str:
    """Return the line that reports a measured figure."""
    unit = BY_NAME[name].unit
    latency = f"  p50 {figure.p50_ms:.2f} ms, p99 {figure.p99_ms:.2f} ms" if figure.p50_ms else ""
    errors = f"  ERRORS: {figure.errors}" if figure.errors else ""
    return f"{name:10} {figure.value:12,.2f}{unit}{latency}{errors}  {figure.note}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks. Return 1 if a request failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    modules = (
        ("--toolkit", toolkit),
        ("--scale", scale),
        ("--proxy", proxy),
        ("--testing", testing),
        ("--node", node),
        ("--policies", policies),
        ("--project", project),
        ("--tunnel", tunnel),
        ("--dashboard", dashboard),
    )
    for name, other in modules:
        if name in given:
            given.remove(name)
            return other(given)
    options = options_of(given)
    about = machine() | {
        "objects of a scenario": str(options.n),
        "connections": f"{options.connections} from {options.processes} processes",
        "watchers": str(options.watchers),
        "storage": options.storage,
    }
    if options.url:
        host, _, port = options.url.removeprefix("https://").rstrip("/").rpartition(":")
        figures = measure(options, Target(host, int(port), options.token), None)
    else:
        with tempfile.TemporaryDirectory(prefix="sampan-bench-") as directory:
            figures = {}
            if any(name != START for name in options.scenarios):
                with stored(options.storage, Path(directory)) as how, running(Path(directory) / "data", *how) as server:
                    figures = measure(options, server.target, server)
            if START in options.scenarios:
                figures[START] = measure_start(options, Path(directory) / "start")
    path = store(figures, about, options.results)
    print(text_table(figures))
    report(f"stored in {path}")
    return 1 if any(figure.errors for figure in figures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
