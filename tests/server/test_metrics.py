"""/metrics of a server that has worked, under the names of Kubernetes."""

from tests.server.cluster import Api, served

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


async def metrics(api: Api) -> dict[str, float]:
    """Every series with its value."""
    text = (await api.get("/metrics")).body.decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


async def test_the_stores_operations_are_timed_by_resource() -> None:
    async with served() as api:
        await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
        await api.patch(f"{CONFIG_MAPS}/a", {"data": {"a": "b"}})
        await api.patch(f"{CONFIG_MAPS}/a", {"data": {"a": "c"}})
        await api.delete(f"{CONFIG_MAPS}/a")
        found = await metrics(api)
    count = 'etcd_request_duration_seconds_count{group="",operation="%s",resource="configmaps"}'
    assert [found[count % operation] for operation in ("create", "update", "delete")] == [1, 2, 1]


async def test_objects_are_counted_by_resource() -> None:
    async with served() as api:
        for name in ("a", "b"):
            await api.create(CONFIG_MAPS, {"metadata": {"name": name}})
        found = await metrics(api)
    assert found['apiserver_storage_objects{resource="configmaps"}'] == 2
    assert found['apiserver_resource_objects{group="",resource="configmaps"}'] == 2
    assert found['apiserver_resource_objects{group="apps",resource="deployments"}'] == 0


async def test_events_are_counted_for_each_watcher() -> None:
    async with served() as api:
        await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
        async with api.watch(f"{CONFIG_MAPS}?watch=1") as first, api.watch(f"{CONFIG_MAPS}?watch=1") as second:
            await api.create(CONFIG_MAPS, {"metadata": {"name": "b"}})
            assert await first.events(2) == await second.events(2) == [("ADDED", "a"), ("ADDED", "b")]
            found = await metrics(api)
    assert found['apiserver_watch_events_total{group="",resource="configmaps",version="v1"}'] == 4
