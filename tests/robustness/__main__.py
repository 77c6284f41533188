"""`python -m tests.robustness`: many runs with faults that seeds choose; anomalies are printed with their seed.

It runs in separate namespaces where the machine permits that. Elsewhere partitions and disk faults are left out.
"""

import argparse
import asyncio
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from tests.robustness.catalogue import ALL
from tests.robustness.disk_faults import DISK_FAULTS
from tests.robustness.disks import disks_possible
from tests.robustness.machines import machines
from tests.robustness.network import Network, isolate, isolated
from tests.robustness.partitions import PARTITIONS
from tests.robustness.run import Report, run
from tests.robustness.scene import Fault


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed")
    parser.add_argument("--number", type=int, default=4, help="how many faults in each")
    parser.add_argument("--pace", type=float, default=1.0, help="duration of faults, as a part of the usual one")
    parser.add_argument("--fault", action="append", default=[], choices=[fault.__name__ for fault in ALL])
    parser.add_argument("--keep", type=Path, help="where the logs of servers and etcds are left")
    return parser.parse_args()


async def main(arguments: argparse.Namespace) -> int:
    """The number of seeds with anomalies."""
    with_disks = isolated() and disks_possible()
    left_out = [fault.__name__ for fault in _left_out(with_disks)]
    if left_out:
        print("not permitted here, left out:", *left_out, flush=True)
    if named := set(arguments.fault) & set(left_out):
        sys.exit(f"not permitted here: {', '.join(named)}")
    bad = 0
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        report = await _one(arguments, seed, with_disks)
        print(f"seed {seed}: {report}", flush=True)
        for anomaly in report.anomalies[:20]:
            print(f"    {anomaly}", flush=True)
        bad += bool(report.anomalies)
    return bad


async def _one(arguments: argparse.Namespace, seed: int, with_disks: bool) -> Report:
    faults = [fault for name in arguments.fault for fault in ALL if fault.__name__ == name]
    with tempfile.TemporaryDirectory() as temporary, Network() if isolated() else nullcontext() as network:
        directory = (arguments.keep or Path(temporary)) / f"seed-{seed}"
        directory.mkdir(parents=True)
        async with machines(directory, network=network, with_disks=with_disks) as made:
            return await run(made, seed, faults, number=arguments.number, interval=arguments.pace)


def _left_out(with_disks: bool) -> list[Fault]:
    return [*(() if isolated() else PARTITIONS), *(() if with_disks else DISK_FAULTS)]


if __name__ == "__main__":
    isolate("tests.robustness", sys.argv[1:])
    sys.exit(min(asyncio.run(main(_arguments())), 1))
