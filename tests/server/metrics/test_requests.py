"""/metrics of the end of requests, of their bodies and objects, and of the decisions on them."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sampan.server.filters.observe import observe_hook
from sampan.server.metrics.server import ServerMetrics
from sampan.server.request import BY_ROUTE, RequestInfo, Response
from tests.server.cluster import Api, served
from tests.server.frame import JANE
from tests.server.requests import make_request
from tests.server.verbs.conftest import api

__all__ = ["api"]

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
"""The path of what is written here."""


async def series(api: Api, *beginnings: str) -> list[str]:
    """Those lines that begin so."""
    text = (await api.client.get("/metrics")).body.decode()
    return [line for line in text.splitlines() if line.startswith(beginnings)]


def config_map(name: str, size: int = 0) -> dict[str, object]:
    return {"metadata": {"name": name}, "data": {"x": "y" * size}}


async def test_bodies_of_writes_are_measured(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a", 100_000))
    await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "z"}})
    await api.get(f"{CONFIG_MAPS}/a")
    await api.delete(CONFIG_MAPS)
    name = "apiserver_request_body_size_bytes"
    assert {line.rpartition('verb="')[2] for line in await series(api, f"{name}_count")} == {
        'create"} 1.0',
        'patch"} 1.0',
        'delete_collection"} 1.0',
    }
    of = 'resource="configmaps",verb="create"}'
    found = [line for line in await series(api, f"{name}_bucket") if f"{of} 0.0" in line or 'le="150000"' in line]
    assert [line.split('le="')[1] for line in found if of in line] == [f'50000",{of} 0.0', f'150000",{of} 1.0']


async def test_a_request_that_is_late_is_counted_as_terminated() -> None:
    async with served() as api:
        api.server.deadlines.maximum_s = 60.0
        released = asyncio.Event()
        before = api.cluster.store.create

        async def slow(key: str, value: bytes, *, ttl_s: int = 0) -> object:
            await released.wait()
            return await before(key, value, ttl_s=ttl_s)

        api.cluster.store.create = slow  # type: ignore[method-assign,assignment]  # a store that hangs
        assert (await api.post(f"{CONFIG_MAPS}?timeout=10ms", config_map("a"))).code == 504
        released.set()
        (line,) = await series(api, "apiserver_request_terminations_total{")
    assert 'code="504",component="apiserver",group="",resource="configmaps",scope="resource"' in line


async def test_a_client_that_allows_a_request_is_counted(api: Api) -> None:
    bound = {"metadata": {"name": "v"}, "subjects": [{"kind": "User", "name": "jane"}]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    path = "/apis/rbac.authorization.k8s.io/v1"
    await api.put(f"{path}/clusterroles/view", {"metadata": {"name": "view"}, "rules": rules})
    await api.create(f"{path}/clusterrolebindings", {**bound, "roleRef": role})
    jane = Api(api.server, JANE)
    assert [(await jane.get(CONFIG_MAPS)).code, (await jane.delete(CONFIG_MAPS)).code] == [200, 403]
    name = "apiserver_authorization_decisions_total"
    assert await series(api, f"{name}{{") == [f'{name}{{decision="allowed",name="rbac",type="RBAC"}} 1.0']


async def test_dry_runs_and_streams_have_no_service_level(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))
    await api.post(f"{CONFIG_MAPS}?dryRun=All", config_map("b"))
    async with api.watch(f"{CONFIG_MAPS}?watch=1"):
        pass
    of = 'resource="configmaps"'
    service = [line for line in await series(api, "apiserver_request_sli_duration_seconds_count") if of in line]
    assert [line.rpartition("} ")[2] for line in service] == ["1.0"]


async def test_a_stream_is_timed_when_it_ends() -> None:
    now = 1.0
    metrics = ServerMetrics()
    info = RequestInfo("/", "watch", is_resource=True)
    request = make_request("GET", "/", info=info, long_running=True, received=1.0)
    request.counted = BY_ROUTE
    response = Response(stream=nothing())
    after = observe_hook(metrics, lambda: now).after
    assert after is not None
    after(request, response)
    sums = [s for f in metrics.collect() for s in f.samples if s.name == "apiserver_request_duration_seconds_sum"]
    assert sums == []
    now = 8.5
    assert response.finished is not None
    response.finished()
    sums = [s for f in metrics.collect() for s in f.samples if s.name == "apiserver_request_duration_seconds_sum"]
    assert [(each.labels["verb"], each.value) for each in sums] == [("WATCH", 7.5)]


async def nothing() -> AsyncIterator[bytes]:
    """A stream."""
    yield b""


async def no_body(limit: int) -> bytes:
    return b""


async def test_lists_and_watches_of_the_store_are_counted_by_resource(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a", 1000))
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
        await watch.event()
    of = '{group="",resource="configmaps"}'
    found = await series(
        api, f"apiserver_init_events_total{of}", f"apiserver_storage_list_total{of}", f"apiserver_resource_size{of}"
    )
    assert found == [f"apiserver_init_events_total{of} 1.0", f"apiserver_storage_list_total{of} 1.0"]
    (size,) = await series(api, f"apiserver_resource_size_estimate_bytes{of}")
    assert 1000 < float(size.rpartition(" ")[2]) < 2000


@pytest.mark.parametrize("resource", ["componentstatuses", 'events",group="events.k8s.io', "events.events.k8s.io"])
async def test_objects_are_counted_where_they_are_stored(api: Api, resource: str) -> None:
    assert [line for line in await series(api, "apiserver_storage_objects") if resource in line] == []


async def test_no_series_is_reported_twice(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))
    for query in ("", "?dryRun=All", "?fieldValidation=Strict", "?pretty=true"):
        await api.get(f"{CONFIG_MAPS}/a{query}")
        await api.get(f"{CONFIG_MAPS}{query}")
        await api.patch(f"{CONFIG_MAPS}/a{query}", {"data": {"x": query}})
    async with api.watch(f"{CONFIG_MAPS}?watch=1&dryRun=All"), api.watch(f"{CONFIG_MAPS}?watch=1"):
        lines = (await api.client.get("/metrics")).body.decode().splitlines()
    reported = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]
    assert sorted(reported) == sorted(set(reported))


async def test_reads_that_did_not_wait_for_the_cache_have_waited_for_nothing(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a"))
    await api.get(CONFIG_MAPS)
    of = '{group="",resource="configmaps"}'
    count, sum_ = await series(
        api,
        f"apiserver_watch_cache_read_wait_seconds_count{of}",
        f"apiserver_watch_cache_read_wait_seconds_sum{of}",
    )
    reads = await series(api, 'apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="confi')
    assert (count.rpartition(" ")[2], sum_.rpartition(" ")[2]) == (reads[0].rpartition(" ")[2], "0.0")


async def test_features_are_notified_of_as_they_are(api: Api) -> None:
    name = "kubernetes_feature_enabled"
    assert await series(api, f'{name}{{name="WatchList"', f'{name}{{name="KMSv1"') == [
        f'{name}{{name="KMSv1",stage="DEPRECATED"}} 0.0',
        f'{name}{{name="WatchList",stage="BETA"}} 1.0',
    ]
