"""Tests of the kind in its two versions: what one writes, the other reads."""

from pathlib import Path

import pytest
from sampan.testing import Cluster
from worlds import CRDS, LOOPS, phase, start

from upgrades.ledger import v1alpha1

CONVERSION = Path(__file__).parents[1] / "config/conversion.yaml"


async def test_the_old_version_reads_what_the_new_one_wrote(cluster: Cluster) -> None:
    await cluster.crds(*CRDS)
    await cluster.apply(CONVERSION)
    spec = {"version": 2, "image": "tea"}
    await cluster.apply(
        {"apiVersion": "upgrades.example.com/v1", "kind": "Ledger", "metadata": {"name": "a"}, "spec": spec}
    )
    old = await cluster.admin().resource(v1alpha1.Ledger).get("a")
    assert old.spec.schema_version == 2


@pytest.mark.cluster(loops=LOOPS)
async def test_the_old_version_can_start_an_upgrade(cluster: Cluster) -> None:
    await start(cluster)
    await cluster.apply(CONVERSION)
    old = cluster.admin().resource(v1alpha1.Ledger)
    found = await old.get("tea")
    found.spec.schema_version = 2
    await old.update(found)
    await phase(cluster, "Verify")
    assert (await phase(cluster, "Done"))["version"] == 2
