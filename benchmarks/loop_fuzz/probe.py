"""`Probe`: an unrelated client in a separate process. It requests one small object again and again.

Other programs on the machine lengthen a wait, but not the processor time that the server used during it. So each wait
has both.
"""

import multiprocessing
import os
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
    """One request of the probe: when it was sent (monotonic seconds) and how long its answer took.

    `cpu_ms`: processor time of all threads of the server meanwhile, but at most `ms`. `loop_ms`: the event loop's part.
    """

    sent: float
    ms: float
    cpu_ms: float = 0.0
    loop_ms: float = 0.0


class Probe:
    """Runs for the length of a `with` block; `waits` has the requests afterwards."""

    def __init__(self, target: Target, server_pid: int) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(
            target=_run, args=(target, server_pid, theirs), daemon=True
        )
        self.waits: Sequence[Wait] = ()

    def __enter__(self) -> Self:
        self._process.start()
        self._ours.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.send("end")
        self.waits = [Wait(*one) for one in self._ours.recv()]
        self._process.join()


class Clocks:
    """Processor time of another process: all its threads, and its main thread (the event loop). Linux only."""

    def __init__(self, pid: int) -> None:
        # How the kernel numbers the clock of a process (CPUCLOCK_SCHED); clock_getcpuclockid() computes the same.
        self._process = ~pid << 3 | 2
        self._main_thread = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)

    def read_ms(self) -> tuple[float, float]:
        """Return the processor time so far of the process and of its main thread."""
        loop_ns = int(os.pread(self._main_thread, 100, 0).split()[0])
        return time.clock_gettime(self._process) * 1000, loop_ns / 1e6


def _run(target: Target, server_pid: int, pipe: Pipe) -> None:
    request = build_request(target, "GET", PATH)
    connection = Connection(target)
    clocks = Clocks(server_pid)
    buffer = bytearray(64 << 10)
    found: list[tuple[float, float, float, float]] = []
    pipe.send("begun")
    while not pipe.poll():
        cpu_before, loop_before = clocks.read_ms()
        connection.send(request)
        began = connection.began
        while not connection.receive(buffer):
            if not select.select([connection.sock], [], [], _TIMEOUT_S)[0]:
                raise TimeoutError("the server does not answer any more")
        took = (time.monotonic() - began) * 1000
        cpu, loop = clocks.read_ms()
        found.append((began, took, min(took, cpu - cpu_before), min(took, loop - loop_before)))
        time.sleep(PAUSE_S)
    pipe.send(found)
