"""Rights in one namespace are no rights to anything outside it, through any path.

jane may do everything in the namespace `mine`. A request with a path of her namespace is authorized there. So no object
outside it may be served under such a path.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.server.authorization.caches import RBAC, binding, role, rule, user
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRDS, crd, version
from tests.server.frame import JANE
from tests.server.smallest import NAMES, Served, served_resources

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


@asynccontextmanager
async def cluster() -> AsyncIterator[tuple[Api, Api]]:
    """Yield the clients of the administrator and of jane. jane may do everything in `mine`."""
    async with served() as admin:
        for name in ("mine", "absent"):
            await admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
        await admin.create(CRDS, crd(version("v1"), version("v2", storage=False), scope="Cluster"))
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("all", rule("*", "*", "*")))
        local = f"/apis/{RBAC}/v1/namespaces/mine/rolebindings"
        await admin.create(local, binding("all", "all", user("jane"), namespace="mine"))
        yield admin, Api(admin.server, JANE)


def paths(each: Served) -> list[str]:
    """The paths of a cluster-scoped resource behind that of a namespace."""
    name, part = NAMES.get(each.key, "absent"), f"/{each.subresource}" if each.subresource else ""
    found = []
    for root in (f"{each.root}/namespaces/mine", f"{each.root}/watch/namespaces/mine"):
        found += [f"{root}/{each.resource}/{name}{part}", f"{root}/{each.resource}{part}"]
        found += [f"{root}/{each.resource}/mine{part}", f"{root}//{each.resource}/{name}{part}"]
    return found


async def stored(api: Api) -> dict[str, bytes]:
    """Everything outside the namespace, but for what the server makes of the custom resource."""
    found = (await api.cluster.store.range("/", "0")).items
    return {row.key: row.value for row in found if "/mine" not in row.key and "apiservices" not in row.key}


@pytest.mark.parametrize("method", METHODS)
async def test_nothing_of_the_cluster_is_served_behind_a_namespace(method: str) -> None:
    async with cluster() as (admin, jane):
        everything = [each async for each in served_resources(admin) if not each.namespaced]
        assert len(everything) > 30
        for each in everything:
            if each.kind != "Namespace" and not each.subresource and "patch" in each.verbs:
                await admin.apply(each.path, each.smallest(), "fieldManager=tests&force=true")
        before = await stored(admin)
        for each in everything:
            for path in paths(each):
                body = b"" if method in ("GET", "HEAD", "DELETE") else each.smallest()
                kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
                response = await jane.fetch(method, path, body, content_type=kind)
                assert response.code in (403, 404, 405), (method, path, response.body)
        assert await stored(admin) == before


@pytest.mark.parametrize("api_", ["jane", "admin"])
async def test_a_namespace_is_served_under_its_own_path_alone(api_: str) -> None:
    async with cluster() as (admin, jane):
        requested = jane if api_ == "jane" else admin
        assert (await requested.get("/api/v1/namespaces/mine")).code == 200
        assert (await requested.get("/api/v1/namespaces/mine/status")).code == 200
        for path in ("mine/namespaces/mine", "mine/namespaces/absent", "mine/namespaces"):
            assert (await requested.get(f"/api/v1/namespaces/{path}")).code == 404
            assert (await requested.get(f"/api/v1/watch/namespaces/{path}")).code == 404


async def test_the_legacy_watch_of_a_namespace_still_works() -> None:
    async with cluster() as (_, jane), jane.watch("/api/v1/watch/namespaces/mine") as watch:
        assert await watch.events(1) == [("ADDED", "mine")]
