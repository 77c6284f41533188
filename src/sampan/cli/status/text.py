"""Text form of `sampan status`: one line for each part."""

from collections.abc import Iterator, Sequence

from sampan.cli.status.data import DataStatus
from sampan.cli.status.server import ServerStatus
from sampan.core.numbers.counts import counted
from sampan.core.time import human_duration

_WIDTH = 14


def lines_of(data: DataStatus | None, server: ServerStatus | None, todo: Sequence[str]) -> list[str]:
    """Return the lines of the report."""
    lines = [*_server(server)] if server is not None else [_line("Server", "not running")]
    if data is not None:
        lines += _data(data)
    if server is not None:
        lines += _cluster(server)
    lines += _listed("To do", todo) if todo else [_line("To do", "nothing")]
    return lines


def _server(server: ServerStatus) -> Iterator[str]:
    state = "ready" if server.ready else "not ready"
    yield _line("Server", f"{server.url}, {state}, {server.version}".removesuffix(", "))
    if server.uptime_s:
        yield _line("", f"up {human_duration(server.uptime_s)}, memory {_size(server.resident_bytes)}")
    if server.components:
        names = {"etcd-0": "store"}
        parts = [f"{names.get(name, name)} {health}" for name, health in sorted(server.components.items())]
        yield _line("Components", ", ".join(parts))


def _data(data: DataStatus) -> Iterator[str]:
    used = f", {_size(data.store_bytes)} used" if data.store_bytes else ""
    yield _line("Data", f"{data.path}, {data.engine}{used}, {_size(data.free_bytes)} free")
    if data.certificates:
        number, first = len(data.certificates), data.certificates[0]
        yield _line("Certificates", f"{number}, first to expire: {first.name} in {counted(first.days_left, 'day')}")


def _cluster(server: ServerStatus) -> Iterator[str]:
    yield _line("Nodes", f"{server.nodes - len(server.nodes_not_ready)} of {server.nodes} ready")
    pods = ", ".join(f"{number} {phase.lower()}" for phase, number in sorted(server.pods.items()))
    yield _line("Pods", pods or "none")
    yield from _listed("Last warnings", server.warnings)


def _listed(title: str, texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield _line("" if number else title, text)


def _line(title: str, text: str) -> str:
    return f"{title:<{_WIDTH}} {text}"


def _size(size_bytes: int) -> str:
    """Return a size with a unit: `12.4 MB`."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
