"""Page with the charts: what each shows, what was measured and on what, and the table of its result."""

from collections.abc import Iterator
from typing import Final

from scripts.site.charts.results import NODE, SERVER, TESTING, Result, results, with_figure

PAGE: Final = "benchmarks.md"
_TABLES: Final = "../benchmarks/results"
_ABOUT: Final = """
Figures of Sampan, from the results that `make bench` stores in the repository. Each is of one machine, so compare
figures within a chart, and measure on yours.
"""
_SERVER: Final = """
Load from {connections} over HTTP/1.1 and TLS, on {cores} cores, with the durable store of SQLite. The figures of
kube-apiserver 1.36 with etcd come from a machine of two cores, which load and server shared there too.
"""
_OVER_TIME: Final = """
The same requests, in each stored result. The dashed line is kube-apiserver 1.36 with etcd.
"""
_MEMORY: Final = """
Resident memory of the server at the end of the scenarios, beside the sum of kube-apiserver and etcd. The server ran
on {cores} cores with the store of SQLite.
"""
_FIXTURES: Final = """
Time until a cluster for one test serves requests, in the process of the test, and until two Pods of a Deployment are
available in it. It was measured on {cores} cores with Python {python}, the best of several runs.
"""
_PODS: Final = """
Time until Pods with containers are ready, and until they are gone after a delete. The node ran on the same machine of
{cores} cores as the server, with containerd {containerd}.
"""


def benchmarks_page() -> str:
    """Return the page. Its pictures are the files of `charts()`, in the folder `charts` next to it."""
    lines = ["# Benchmarks", "", " ".join(_ABOUT.split()), ""]
    server, fixture, node = results(SERVER)[-1], with_figure(TESTING, "start")[-1], results(NODE)[-1]
    lines += _section("Throughput", "throughput", "Requests per second beside kube-apiserver", _SERVER, server)
    over_time = "Requests per second in each result"
    lines += _section("Throughput over the results", "throughput-over-time", over_time, _OVER_TIME, server)
    lines += _section("Memory", "memory", "Resident memory beside kube-apiserver with etcd", _MEMORY, server)
    lines += _section("Start of a cluster in a test", "fixture-start", "Times of fixtures", _FIXTURES, fixture)
    lines += _section("Start of Pods", "pod-start", "Times until Pods are ready and gone", _PODS, node)
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, chart: str, alternative: str, about: str, result: Result) -> Iterator[str]:
    words = {key: value for key, value in result.machine.items() if key.isidentifier()}
    connections = result.machine.get("connections", "").replace("from", "connections of")
    yield from (f"## {title}", "", f"![{alternative}](charts/{chart}.svg)", "")
    text = about.format(**{**words, "connections": connections})
    when = f"{result.day} {result.at.year}"
    yield from (f"{' '.join(text.split())} [Table of {when}]({_TABLES}/{result.stem}.md).", "")
