"""`python -m benchmarks.soak`: hours of churn; fails if anything grows in the second half.

Pods, Deployments, Jobs, custom resources, CRDs, namespaces, watches and TLS connections are created and removed on a
server with its control loops and simulated nodes. Each minute ends with a rest without load. At its end, memory, file
descriptors and tasks of each process are printed, with the processor time that the process used during the rest. The
soak fails if one of these values grew by more than 5 % from the beginning to the end of the second half, or if requests
failed.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import report
from benchmarks.soak.churn import Load
from benchmarks.soak.processes import Cluster, cluster
from benchmarks.soak.verdict import SAMPLES_MIN, Growth, Sample, growth, line
from sampan.client import Client, load_config
from sampan.client.transports.warnings import ignore_warnings


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line. Times are in seconds."""

    samples: int
    minute_s: float
    rest_s: float
    pause_s: float
    cycles_max: int
    connections: int
    nodes: int
    data: Path | None


def options_of(arguments: Sequence[str] | None) -> Options:
    """Read the command line. Raises `SystemExit`."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120.0, help="length (120)")
    parser.add_argument("--minute", type=float, default=60.0, help="seconds from one sample to the next (60)")
    parser.add_argument("--rest", type=float, default=15.0, help="seconds without load before a sample (15)")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two parts of the load (0.2)")
    parser.add_argument("--rounds", type=int, default=12, help="most rounds of all parts for each sample (12)")
    parser.add_argument("--connections", type=int, default=50, help="TLS connections of a wave (50)")
    parser.add_argument("--nodes", type=int, default=2, help="simulated nodes (2)")
    parser.add_argument("--data", type=Path, help="data directory; by default a temporary one")
    given = parser.parse_args(arguments)
    if given.rest >= given.minute:
        parser.error("--rest must be shorter than --minute")
    samples = round(given.minutes * 60 / given.minute)
    if samples < SAMPLES_MIN:
        parser.error(f"--minutes must be long enough for {SAMPLES_MIN} samples")
    return Options(
        samples, given.minute, given.rest, given.pause, given.rounds, given.connections, given.nodes, given.data
    )


async def soak(options: Options, at: Cluster, load: Load) -> dict[str, list[Sample]]:
    """Run load and rest, minute by minute. Return the samples of each process."""
    samples: dict[str, list[Sample]] = {watched.name: [] for watched in at.watched}
    for number in range(options.samples):
        await load.run(options.minute_s - options.rest_s, options.pause_s, options.cycles_max)
        # What the last requests have set in motion is to end first.
        await asyncio.sleep(options.rest_s / 3)
        idle_s = options.rest_s * 2 / 3
        used_s = {watched.name: watched.processor_s() for watched in at.watched}
        await asyncio.sleep(idle_s)
        latest: dict[str, Sample] = {}
        for watched in at.watched:
            percent = (watched.processor_s() - used_s[watched.name]) / idle_s * 100
            latest[watched.name] = await asyncio.to_thread(watched.sample, percent)
            samples[watched.name].append(latest[watched.name])
        note = f"{load.rounds} rounds" + (f", {load.errors} errors, {load.last_error}" if load.errors else "")
        report(line((number + 1) * options.minute_s / 60, latest, note))
    return samples


def judged(samples: dict[str, list[Sample]]) -> list[Growth]:
    """Return the growth of all measures of all processes in the second half."""
    return [each for process, series in samples.items() for each in growth(process, series)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak. Return 1 if a value grew too much or a request failed."""
    options = options_of(arguments)
    with tempfile.TemporaryDirectory(prefix="sampan-soak-") as directory:
        data = options.data or Path(directory) / "data"
        with cluster(data, options.nodes) as at:
            return asyncio.run(_main(options, at, data))


async def _main(options: Options, at: Cluster, data: Path) -> int:
    async with Client.from_config(load_config(data / "kubeconfig"), warnings=ignore_warnings) as client:
        load = Load(client, at.server.target, options.connections)
        verdict = judged(await soak(options, at, load))
    for each in verdict:
        print(each)
    if load.errors:
        print(f"{load.errors} requests failed; the last: {load.last_error}")
    return 1 if load.errors or any(each.failed for each in verdict) else 0


if __name__ == "__main__":
    sys.exit(main())
