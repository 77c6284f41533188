"""A process that makes load. It receives jobs through a pipe, and reuses its connections in later scenarios."""

import select
import ssl
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing.connection import Connection as Pipe

from benchmarks import objects
from benchmarks.connection import Connection, Load, Target, build_request, drive, drive_steadily
from benchmarks.scenarios import BY_NAME

_BUFFER_BYTES = 256 << 10
_MARK = b'"name":"fan-'
GO = "go"
READY = "ready"


@dataclass(frozen=True, slots=True)
class LoadJob:
    """Send the requests of a scenario with these numbers; with `seconds`, repeat them for that time."""

    scenario: str
    numbers: range
    connections: int
    seconds: float = 0.0
    rate: float = 0.0
    """Requests a second; 0: no limit."""


@dataclass(frozen=True, slots=True)
class WatchJob:
    """Open `watchers` streams of an app's objects.

    Wait until each has received `events` events, or `timeout_s` has passed.
    """

    app: str
    watchers: int
    events: int
    timeout_s: float


@dataclass(slots=True)
class ReceivedEvent:
    """Numbers and times of the events that all streams of a worker have received."""

    numbers: "array[int]" = field(default_factory=lambda: array("L"))
    times: "array[float]" = field(default_factory=lambda: array("d"))


def serve(pipe: Pipe, target: Target) -> None:
    """Run jobs until the pipe closes. After `READY` a job waits for `GO`; then its result is sent."""
    connections: list[Connection] = []
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(_watch(pipe, target, job) if isinstance(job, WatchJob) else _load(pipe, target, job, connections))
        except (OSError, ValueError) as error:
            pipe.send(error)


def _load(pipe: Pipe, target: Target, job: LoadJob, connections: list[Connection]) -> Load:
    build = BY_NAME[job.scenario].build
    assert build is not None
    numbers = job.numbers[:1] if BY_NAME[job.scenario].one_request else job.numbers
    requests = [build(target, number) for number in numbers]
    while len(connections) < job.connections:
        connections.append(Connection(target))
    pipe.send(READY)
    pipe.recv()
    if job.rate:
        return drive_steadily(connections[: job.connections], iter(requests), job.rate)
    return drive(connections[: job.connections], _until(requests, job.seconds) if job.seconds else iter(requests))


def _until(requests: list[bytes], seconds: float) -> Iterator[bytes]:
    end = time.monotonic() + seconds
    for request in cycle(requests):
        if time.monotonic() > end:
            return
        yield request


def _watch(pipe: Pipe, target: Target, job: WatchJob) -> ReceivedEvent:
    path = f"{objects.CONFIG_MAPS}?watch=1&labelSelector=app%3D{job.app}"
    request = build_request(target, "GET", path, accept="application/json")
    streams = {}
    for _ in range(job.watchers):
        connection = Connection(target)
        streams[connection.sock.fileno()] = connection
        connection.send(request)
    poll = select.poll()
    for number in streams:
        poll.register(number, select.POLLIN)
    buffer = bytearray(_BUFFER_BYTES)
    _await_response_heads(poll, streams, buffer)
    pipe.send(READY)
    pipe.recv()
    observed = ReceivedEvent()
    end = time.monotonic() + job.timeout_s
    rests = dict.fromkeys(streams, b"")
    while len(observed.times) < job.watchers * job.events and time.monotonic() < end:
        for number, _ in poll.poll(1000):
            rests[number] = _take(streams[number], buffer, rests[number], observed)
    for connection in streams.values():
        connection.close()
    return observed


def _await_response_heads(poll: select.poll, streams: dict[int, Connection], buffer: bytearray) -> None:
    waiting = set(streams)
    while waiting:
        ready = poll.poll(30_000)
        if not ready:
            raise TimeoutError("watches are not answered")
        for number, _ in ready:
            streams[number].receive(buffer)
            if streams[number].head:
                if streams[number].status != 200:
                    raise ValueError(streams[number].head.decode("latin-1"))
                waiting.discard(number)


def _take(connection: Connection, buffer: bytearray, rest: bytes, observed: ReceivedEvent) -> bytes:
    """Record the received events. Return the beginning of an event that is not complete yet."""
    while True:
        try:
            count = connection.sock.recv_into(buffer)
        except ssl.SSLWantReadError:
            return rest
        if not count:
            raise ConnectionError("the server ended a watch")
        data = rest + buffer[:count]
        whole = data.rfind(b"\n") + 1
        now = time.monotonic()
        at = data.find(_MARK, 0, whole)
        while at >= 0:
            at += len(_MARK)
            observed.numbers.append(int(data[at : at + 6]))
            observed.times.append(now)
            at = data.find(_MARK, at, whole)
        rest = data[whole:]
