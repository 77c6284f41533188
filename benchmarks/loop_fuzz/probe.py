"""`Probe`: an unrelated client in a process of its own, which asks for one small object again and again."""

import multiprocessing
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import Self

from benchmarks.connection import Connection, Target, build_request

PATH = "/api/v1/namespaces/default"
PAUSE_S = 0.001
_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Wait:
    """One request of the probe: when it was sent (monotonic seconds) and how long its answer took."""

    sent: float
    ms: float


class Probe:
    """Runs for the length of a `with` block; `waits` has the requests afterwards."""

    def __init__(self, target: Target) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_run, args=(target, theirs), daemon=True)
        self.waits: Sequence[Wait] = ()

    def __enter__(self) -> Self:
        self._process.start()
        self._ours.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.send("end")
        self.waits = [Wait(*pair) for pair in self._ours.recv()]
        self._process.join()


def _run(target: Target, pipe: Pipe) -> None:
    request = build_request(target, "GET", PATH)
    connection = Connection(target)
    buffer = bytearray(64 << 10)
    found: list[tuple[float, float]] = []
    pipe.send("begun")
    while not pipe.poll():
        connection.send(request)
        began = connection.began
        while not connection.receive(buffer):
            if not select.select([connection.sock], [], [], _TIMEOUT_S)[0]:
                raise TimeoutError("the server does not answer any more")
        found.append((began, (time.monotonic() - began) * 1000))
        time.sleep(PAUSE_S)
    pipe.send(found)
