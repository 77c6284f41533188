"""Tests of the networks of other nodes, as a node that has joined reads them."""

import asyncio
import logging
from collections.abc import Mapping

import pytest

from sampan.client import Forbidden, MergePatch
from sampan.component_base.pod_networks import CONFIG_MAP, NAMESPACE, PodNetworkOf, to_data
from sampan.component_base.resources import CONFIG_MAPS
from sampan.core.errors import Reason
from sampan.node.cri.network.published import PublishedNetworks
from tests.client.connected import connected

A, B = PodNetworkOf(("10.1.1.0/24",), ("192.0.2.1",)), PodNetworkOf(("10.1.2.0/24",), ("192.0.2.2",))


async def test_each_change_is_passed_on() -> None:
    found: asyncio.Queue[Mapping[str, PodNetworkOf]] = asyncio.Queue()
    async with connected() as (client, _), asyncio.timeout(30):
        config_maps = client.resource(CONFIG_MAPS, namespace=NAMESPACE)
        task = asyncio.create_task(PublishedNetworks(client, found.put_nowait).run())
        await config_maps.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP}, "data": to_data({"a": A})}
        )
        assert await found.get() == {"a": A}
        await config_maps.patch(CONFIG_MAP, MergePatch({"data": to_data({"b": B})}))
        assert await found.get() == {"a": A, "b": B}
        await config_maps.delete(CONFIG_MAP)
        task.cancel()
        await asyncio.wait([task])


async def test_a_missing_permission_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with connected() as (client, _):
        published = PublishedNetworks(client, lambda networks: None)
        for _ in range(3):
            published._report(Forbidden(Reason.FORBIDDEN, 403, "no"))
    logged = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert len([each for each in logged if "adding no routes to their Pods: no" in each]) == 1
