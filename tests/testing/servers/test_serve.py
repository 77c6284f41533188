"""A cluster in the process with an address, for programs in any language."""

import asyncio

import pytest

from sampan.testing import Cluster, ClusterOptions
from sampan.testing.cluster import NeedsRealTime
from tests.test_server.api import CONFIG_MAPS, Api, config_map


async def test_a_program_reaches_the_cluster_with_its_kubeconfig() -> None:
    cluster = Cluster(ClusterOptions(virtual=False))
    async with cluster.serve() as admin, cluster.serve("somebody") as other:
        made = await asyncio.to_thread(Api(admin.kubeconfig), "POST", CONFIG_MAPS, config_map("a"))
        refused = await asyncio.to_thread(Api(other.kubeconfig), "GET", CONFIG_MAPS)
        assert (made[0], refused[0]) == (201, 403)
        assert admin.environment({"KUBERNETES_SERVICE_HOST": "192.0.2.1"})["KUBECONFIG"] == str(admin.kubeconfig)
    assert not admin.kubeconfig.exists()
    assert (await cluster.get("configmaps/a"))["metadata"]["name"] == "a"
    await cluster.aclose()


async def test_a_cluster_in_virtual_time_has_no_address() -> None:
    cluster = Cluster(ClusterOptions(virtual=True))
    with pytest.raises(NeedsRealTime, match="time='real'"):
        async with cluster.serve():
            pass
    await cluster.aclose()
