"""Test of the operator as a whole."""

from sampan.operator import Manager
from sampan.testing import Cluster

from upgrades.app import set_up


async def test_all_parts_fit_together(cluster: Cluster) -> None:
    set_up(Manager(cluster.admin()))
