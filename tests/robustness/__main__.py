"""`python -m tests.robustness`: many runs with faults that seeds choose; what is wrong is printed with its seed."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.robustness.faults import FAULTS
from tests.robustness.machines import machines
from tests.robustness.run import run


async def main() -> int:
    """The number of seeds with anomalies."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed")
    parser.add_argument("--number", type=int, default=4, help="how many faults in each")
    parser.add_argument("--fault", action="append", default=[], choices=[fault.__name__ for fault in FAULTS])
    parser.add_argument("--keep", type=Path, help="where the logs of servers and etcds are left")
    told = parser.parse_args()
    faults = [fault for name in told.fault for fault in FAULTS if fault.__name__ == name]
    bad = 0
    for seed in range(told.seed, told.seed + told.seeds):
        with tempfile.TemporaryDirectory() as temporary:
            directory = (told.keep or Path(temporary)) / f"seed-{seed}"
            directory.mkdir(parents=True)
            async with machines(directory) as made:
                report = await run(made, seed, faults, number=told.number)
        print(f"seed {seed}: {report}", flush=True)
        for anomaly in report.anomalies[:20]:
            print(f"    {anomaly}", flush=True)
        bad += bool(report.anomalies)
    return bad


if __name__ == "__main__":
    sys.exit(min(asyncio.run(main()), 1))
