"""A write acknowledged by one server is in the next answer of another."""

import asyncio

from tests.server.several.servers import several


async def test_a_write_through_one_server_is_read_through_another() -> None:
    async with several(2) as (a, b):
        for n in range(20):
            await a.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": f"c{n}"}})
            assert (await b.get(f"/api/v1/namespaces/default/configmaps/c{n}")).code == 200
            listed = await b.get("/api/v1/namespaces/default/configmaps")
            assert len(listed.body["items"]) == n + 1


async def test_the_log_of_a_pod_that_another_server_has_just_made_is_found() -> None:
    async with several(2) as (a, b):
        for n in range(20):
            pod = {"metadata": {"name": f"p{n}"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            await a.create("/api/v1/namespaces/default/pods", pod)
            assert (await b.get(f"/api/v1/namespaces/default/pods/p{n}/log")).code == 204


async def test_a_deletion_through_one_server_is_visible_through_another() -> None:
    async with several(2) as (a, b):
        path = "/api/v1/namespaces/default/configmaps"
        await a.create(path, {"metadata": {"name": "x"}})
        assert (await a.delete(f"{path}/x")).code == 200
        assert (await b.get(f"{path}/x")).code == 404
        await b.create(path, {"metadata": {"name": "x"}})


async def test_a_patch_without_a_resource_version_goes_on_from_what_another_server_wrote() -> None:
    async with several(2) as servers:
        path = "/api/v1/namespaces/default/configmaps"
        await servers[0].create(path, {"metadata": {"name": "x"}, "data": {}})

        async def patch(n: int) -> int:
            return (await servers[n % 2].patch(f"{path}/x", {"data": {f"k{n}": "v"}})).code

        assert await asyncio.gather(*(patch(n) for n in range(12))) == [200] * 12
        data = (await servers[1].get(f"{path}/x")).body["data"]
        assert sorted(data) == sorted(f"k{n}" for n in range(12))


async def test_a_put_of_what_another_server_has_changed_conflicts() -> None:
    async with several(2) as (a, b):
        path = "/api/v1/namespaces/default/configmaps"
        made = await a.create(path, {"metadata": {"name": "x"}})
        assert (await b.patch(f"{path}/x", {"data": {"a": "b"}})).code == 200
        assert (await a.put(f"{path}/x", made)).code == 409


async def test_a_server_without_events_reports_an_error_instead_of_stale_objects() -> None:
    async with several(2) as (a, b):
        b.late.held = True
        await a.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}})
        response = await b.get("/api/v1/namespaces/default/configmaps")
        assert response.code == 504
        b.late.held = False
        assert len((await b.get("/api/v1/namespaces/default/configmaps")).body["items"]) == 1


async def test_reads_that_may_be_old_do_not_wait_for_the_store() -> None:
    async with several(2) as (a, b):
        b.late.held = True
        await a.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}})
        async with asyncio.timeout(60):
            listed = await b.get("/api/v1/namespaces/default/configmaps?resourceVersion=0")
        assert listed.body["items"] == []


async def test_a_watch_through_one_server_has_the_writes_through_all_in_order() -> None:
    async with several(3) as servers, servers[2].watch("/api/v1/namespaces/default/configmaps?watch=1") as watch:
        for n in range(9):
            made = {"metadata": {"name": f"c{n}"}}
            await servers[n % 3].create("/api/v1/namespaces/default/configmaps", made)
        assert await watch.events(9) == [("ADDED", f"c{n}") for n in range(9)]
