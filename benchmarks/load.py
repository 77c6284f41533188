"""`Workers`: the processes that make load. They share the requests of a scenario."""

import multiprocessing
import time
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection as Pipe
from types import TracebackType
from typing import Any, Self

from benchmarks.connection import Load, Target
from benchmarks.scenarios import FAN_OUT, STEADY, STEADY_FIRST, STEADY_RATE, Scenario
from benchmarks.worker import GO, LoadJob, ReceivedEvent, WatchJob, serve

_SETTLE_S = 0.3
_FAN_OUT_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Figure:
    """Result of a scenario. `value` has the unit of the scenario, by default operations a second."""

    value: float
    operations: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    mb_per_s: float = 0.0
    errors: int = 0
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with rounded numbers."""
        return {key: round(value, 3) if isinstance(value, float) else value for key, value in asdict(self).items()}


class Workers:
    """Processes that make load. They end with the block of this context manager."""

    def __init__(self, target: Target, processes: int, connections: int) -> None:
        self._connections = [len(range(number, connections, processes)) for number in range(processes)]
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Pipe] = []
        self._processes = []
        for _ in range(processes + 1):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, target), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(5)
            process.kill()

    def run(self, scenario: Scenario, count: int, seconds: float) -> Figure:
        """Distribute the requests of a scenario among the processes. Return their combined figure."""
        share = len(self._connections)
        jobs = [
            LoadJob(scenario.name, range(number, count, share), connections, seconds if scenario.timed else 0.0)
            for number, connections in enumerate(self._connections)
        ]
        pipes = self._pipes[:share]
        for pipe, job in zip(pipes, jobs, strict=True):
            pipe.send(job)
        for pipe in pipes:
            _response(pipe)
        for pipe in pipes:
            pipe.send(GO)
        loads: list[Load] = [_response(pipe) for pipe in pipes]
        return _summed(loads)

    def fan_out(self, count: int, watchers: int) -> Figure:
        """Measure `count` creates whose events all watchers receive: events a second.

        Latencies count from the sending of the create.
        """
        return self._watched(LoadJob(FAN_OUT, range(count), sum(self._connections)), watchers)

    def steady(self, count: int, watchers: int) -> Figure:
        """Measure the same at a steady rate of creates: the median latency of the events, in milliseconds."""
        figure = self._watched(LoadJob(STEADY, range(count), sum(self._connections), rate=STEADY_RATE), watchers)
        return replace(figure, value=figure.p50_ms)

    def _watched(self, job: LoadJob, watchers: int) -> Figure:
        count, first = len(job.numbers), STEADY_FIRST if job.scenario == STEADY else 0
        watching = self._pipes[-1]
        watching.send(WatchJob(job.scenario, watchers, count, _FAN_OUT_TIMEOUT_S))
        _response(watching)
        time.sleep(_SETTLE_S)
        creating = self._pipes[0]
        creating.send(job)
        _response(creating)
        watching.send(GO)
        creating.send(GO)
        load: Load = _response(creating)
        observed: ReceivedEvent = _response(watching)
        latencies = sorted(
            (at - load.sent[number - first]) * 1000 for number, at in zip(observed.numbers, observed.times, strict=True)
        )
        elapsed = (max(observed.times) if observed.times else load.ended) - load.started
        creates = len(load.latencies_ms) / (load.ended - load.started)
        missing = count * watchers - len(latencies)
        return Figure(
            len(latencies) / elapsed,
            len(latencies),
            _quantile(latencies, 0.5),
            _quantile(latencies, 0.99),
            errors=load.errors + missing,
            note=f"{watchers} watchers, {count} events each, {creates:,.0f} creates/s",
        )


def _response(pipe: Pipe) -> Any:
    response = pipe.recv()
    if isinstance(response, Exception):
        raise response
    return response


def _summed(loads: list[Load]) -> Figure:
    latencies = sorted(latency for load in loads for latency in load.latencies_ms)
    elapsed = max(load.ended for load in loads) - min(load.started for load in loads)
    errors = sum(load.errors for load in loads)
    return Figure(
        len(latencies) / elapsed,
        len(latencies),
        _quantile(latencies, 0.5),
        _quantile(latencies, 0.99),
        sum(load.size_bytes for load in loads) / 1e6 / elapsed,
        errors,
        next((load.first_error.split("\r\n", 1)[0] for load in loads if load.first_error), ""),
    )


def _quantile(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0
