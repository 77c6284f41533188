"""CRDs that come and go leave nothing in the server: operators write theirs again and again."""

import asyncio
import gc
import re
from collections import Counter

from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.schema.structural import Schema
from sampan.server.openapi.handler import Document
from sampan.storage.cache import WatchCache
from tests.server.cluster import Api
from tests.server.custom_resources import COLOR, CRDS, crd, eventually, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

DEADLINE_S = 30.0
OWN_GROUP = re.compile(r"/g\d\.example\.com/")
KINDS = (Schema, ResourceDefinition, VersionDefinition, Document)


def living() -> Counter[str]:
    """Count the objects of these classes."""
    gc.collect()
    return Counter(type(each).__name__ for each in gc.get_objects() if type(each) in KINDS)


async def until_caches_have_ended() -> None:
    """Wait for the end of the watch caches of this test's CRDs: each is ended by a separate task."""
    async with asyncio.timeout(DEADLINE_S):
        while any(isinstance(each, WatchCache) and OWN_GROUP.search(each.prefix) for each in gc.get_objects()):
            await asyncio.sleep(0.05)
            gc.collect()


async def come_and_go(api: Api, number: int) -> None:
    """Create a CRD in a new group and one object of it, read them, and delete the CRD."""
    group, plural, kind = f"g{number}.example.com", f"caps{number}", f"Cap{number}"
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    made = crd(version(openapi=COLOR, selectableFields=[{"jsonPath": ".spec.color"}]), group=group, names=names)
    made["metadata"]["name"] = f"{plural}.{group}"
    await api.create(CRDS, made)
    objects = f"/apis/{group}/v1/namespaces/default/{plural}"
    cap = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "a"}, "spec": {"color": "red"}}
    await api.create(objects, cap)
    for path in (objects, f"{objects}?fieldSelector=spec.color%3Dred", f"/openapi/v3/apis/{group}/v1", "/apis"):
        assert (await api.get(path)).code == 200
    path = f"{CRDS}/{plural}.{group}"
    await api.delete(path)
    await eventually(lambda: api.get(path), lambda response: response.code == 404)


async def test_crds_that_come_and_go_leave_nothing(api: Api) -> None:
    for path in (await api.get("/openapi/v3")).body["paths"]:
        await api.get(f"/openapi/v3/{path}")
    await come_and_go(api, 0)
    await come_and_go(api, 1)
    await until_caches_have_ended()
    before = living()
    for number in range(2, 6):
        await come_and_go(api, number)
    await until_caches_have_ended()
    assert living() == before


async def test_a_crd_that_goes_leaves_nothing_before_openapi_is_read_again(api: Api) -> None:
    """The index, without reading all documents first: few of them are kept."""
    await api.get("/openapi/v3")
    await come_and_go(api, 0)
    await until_caches_have_ended()
    before = living()
    await come_and_go(api, 1)
    await until_caches_have_ended()
    after = living()
    assert after["VersionDefinition"] == before["VersionDefinition"]
