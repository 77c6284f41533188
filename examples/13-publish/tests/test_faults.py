"""No single fault changes what clients find in the end: crashes, lost responses, old caches, and faults of the zone."""

import os

import pytest
from sampan.testing import Cluster, is_gone
from sampan.testing.explore import Scenario, explore, scenario
from servers import Servers
from test_publication import endpoints, publication

from publications.publication.reconcile import set_up
from publications.publication.v1 import Publication

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))


@scenario(set_up, crds=[Publication], system=Servers)
async def life(cluster: Cluster, servers: Servers) -> None:
    """Publish, change and withdraw."""
    await cluster.apply(endpoints("10.0.0.1", "10.0.0.2"))
    await cluster.apply(publication())
    await cluster.settled()
    await cluster.apply(endpoints("10.0.0.2", "10.0.0.3"))
    await cluster.settled()
    await cluster.delete("publications/shop")
    await cluster.advance(minutes=1)


@scenario(set_up, crds=[Publication], system=Servers)
async def made_again(cluster: Cluster, servers: Servers) -> None:
    """Delete a publication, and create one with the same name."""
    await cluster.apply(endpoints("10.0.0.1"))
    await cluster.apply(publication())
    await cluster.settled()
    await cluster.delete("publications/shop")
    await cluster.eventually("publications/shop", is_gone())
    await cluster.apply(publication())
    await cluster.advance(minutes=1)


@pytest.mark.parametrize("story", [life, made_again], ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
