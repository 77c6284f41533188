"""The ConfigMap with the day since which the use of tokens in Secrets is tracked."""

import asyncio
from typing import Any

from sampan.core.object import Object
from sampan.core.tokens.legacy import TRACKING_NAME
from sampan.server.post_start_hooks.legacy_token_tracking import CREATE_INTERVAL_S, TrackingSince
from sampan.testing.time.virtual_time import virtual_time
from tests.server.authentication.accounts import Clock
from tests.server.cluster import Api, served

PATH = "/api/v1/namespaces/kube-system/configmaps"


async def tracking(api: Api, holds: Any) -> Object:
    """The ConfigMap as soon as something holds of it; {} as long as there is none."""
    async with asyncio.timeout(60):
        while True:
            response = await api.get(f"{PATH}/{TRACKING_NAME}")
            found: Object = response.body if response.code == 200 else {}
            if holds(found):
                return found
            await asyncio.sleep(0)


async def test_it_is_made() -> None:
    async with served() as api:
        api.cluster.clock = Clock()
        task = asyncio.create_task(TrackingSince(api.cluster).run())
        found = await tracking(api, bool)
        assert found["data"] == {"since": "2026-06-01"}
        assert [entry["manager"] for entry in found["metadata"]["managedFields"]] == ["kube-apiserver"]
        task.cancel()


async def test_an_invalid_date_is_repaired_and_other_keys_stay() -> None:
    async with served() as api:
        api.cluster.clock = Clock()
        metadata = {"name": TRACKING_NAME}
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"since": "x", "a": "b"}}
        await api.create(PATH, config_map)
        task = asyncio.create_task(TrackingSince(api.cluster).run())
        found = await tracking(api, lambda obj: obj["data"]["since"] != "x")
        assert found["data"] == {"since": "2026-06-01", "a": "b"}
        await api.patch(f"{PATH}/{TRACKING_NAME}", {"data": {"since": "2026-05-01"}})
        await asyncio.sleep(0)
        assert (await api.get(f"{PATH}/{TRACKING_NAME}")).body["data"]["since"] == "2026-05-01"
        task.cancel()


@virtual_time
async def test_a_client_that_deletes_it_has_half_an_hour() -> None:
    loop = asyncio.get_running_loop()
    async with served() as api:
        task = asyncio.create_task(TrackingSince(api.cluster).run())
        await tracking(api, bool)
        began = loop.time()
        await api.delete(f"{PATH}/{TRACKING_NAME}")
        async with api.watch(f"{PATH}?watch=1&fieldSelector=metadata.name={TRACKING_NAME}") as watch:
            assert (await watch.event(2 * CREATE_INTERVAL_S))["type"] == "ADDED"
        assert CREATE_INTERVAL_S - 60 <= loop.time() - began <= CREATE_INTERVAL_S + 60
        task.cancel()
