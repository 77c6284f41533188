"""Configuration written through one server counts in another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from tests.server.cluster import Api
from tests.server.frame import JANE
from tests.server.several.servers import Server, one_of, several

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
WIDGET = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def soon(sent: Callable[[], Awaitable[bool]], within_s: float = 30.0) -> None:
    """Poll until it is so."""
    async with asyncio.timeout(within_s):
        while True:
            if await sent():
                return
            await asyncio.sleep(0.01)


async def codes(api: Api, path: str, desired: int, **headers: str) -> None:
    """A GET answers so, soon."""

    async def sent() -> bool:
        return (await api.get(path, **headers)).code == desired

    await soon(sent)


async def test_a_namespace_made_through_one_server_is_written_in_through_another_at_once() -> None:
    async with several(2) as servers:
        for n in range(6):
            await servers[n % 2].create("/api/v1/namespaces", {"metadata": {"name": f"n{n}"}})
            made = {"metadata": {"name": "x"}}
            await servers[1 - n % 2].create(f"/api/v1/namespaces/n{n}/configmaps", made)


async def test_creates_in_a_terminating_namespace_are_refused_and_its_objects_can_be_deleted() -> None:
    async with several(2) as (a, b):
        await a.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
        path = "/api/v1/namespaces/going/configmaps"
        tried = asyncio.create_task(_create_until_refused(b, path))
        assert (await a.delete("/api/v1/namespaces/going")).code == 200
        async with asyncio.timeout(60):
            assert await tried == 403
        await a.delete(path)
        assert (await b.get(path)).body["items"] == []


async def _create_until_refused(api: Api, path: str) -> int:
    n = 0
    while (response := await api.post(path, {"metadata": {"name": f"c{n}"}})).code == 201:
        n += 1
    return response.code


async def test_custom_resources_defined_through_one_server_are_served_by_another_soon() -> None:
    async with several(2) as (a, b):
        assert (await b.get(WIDGETS)).code == 404
        await a.create(CRDS, WIDGET)
        await codes(b, WIDGETS, 200)
        await b.create(WIDGETS, {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}})
        assert [item["metadata"]["name"] for item in (await a.get(WIDGETS)).body["items"]] == ["w"]


async def test_custom_resources_deleted_through_one_server_go_from_all() -> None:
    async with several(3) as servers:
        await servers[0].create(CRDS, WIDGET)
        for server in servers:
            await codes(server, WIDGETS, 200)
        kind = {"kind": "Widget", "apiVersion": "example.com/v1"}
        for n in range(6):
            await servers[n % 3].create(WIDGETS, {**kind, "metadata": {"name": f"w{n}"}})
        assert (await servers[1].delete(f"{CRDS}/widgets.example.com")).code == 200
        for server in servers:
            await codes(server, WIDGETS, 404)
            await codes(server, f"{CRDS}/widgets.example.com", 404)
        store = servers[0].late.shared
        assert (await store.range("/registry/example.com/", "/registry/example.com0")).items == []


async def test_a_definition_made_again_through_another_server_is_served_by_all() -> None:
    async with several(2) as (a, b):
        for one, other in ((a, b), (b, a)):
            await one.create(CRDS, WIDGET)
            await codes(other, WIDGETS, 200)
            assert (await one.delete(f"{CRDS}/widgets.example.com")).code == 200
            await codes(other, WIDGETS, 404)
            await codes(other, f"{CRDS}/widgets.example.com", 404)


async def test_roles_given_and_taken_through_one_server_count_in_another() -> None:
    async with several(2) as (a, b):
        assert (await b.get(CONFIG_MAPS, **JANE)).code == 403
        subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"kind": "ClusterRole", "name": "see", "apiGroup": "rbac.authorization.k8s.io"}
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
        await a.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "see"}, "rules": rules})
        bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
        await a.create(bindings, {"metadata": {"name": "see"}, "subjects": [subject], "roleRef": role})
        await codes(b, CONFIG_MAPS, 200, **JANE)
        await a.delete(f"{bindings}/see")
        await codes(b, CONFIG_MAPS, 403, **JANE)


async def test_policies_through_one_server_count_in_another() -> None:
    async with several(2) as (a, b):
        base = "/apis/admissionregistration.k8s.io/v1"
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "object.metadata.name != 'bad'"}],
        }
        await a.create(f"{base}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
        binding = {"policyName": "p", "validationActions": ["Deny"]}
        await a.create(f"{base}/validatingadmissionpolicybindings", {"metadata": {"name": "p"}, "spec": binding})

        async def refused() -> bool:
            return (await b.post(f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "bad"}})).code == 422

        await soon(refused)


async def test_quotas_made_through_one_server_hold_in_all_however_the_writes_are_spread() -> None:
    async with several(3) as servers:
        quota = {"metadata": {"name": "q"}, "spec": {"hard": {"count/configmaps": "5"}}}
        made = await servers[0].create("/api/v1/namespaces/default/resourcequotas", quota)
        counted = {**made, "status": {"hard": quota["spec"]["hard"], "used": {"count/configmaps": "0"}}}  # type: ignore[index]
        path = "/api/v1/namespaces/default/resourcequotas/q"
        assert (await servers[0].put(f"{path}/status", counted)).code == 200
        for server in servers:
            assert (await server.get(path)).code == 200  # from here on it has the quota in its cache
        requested = (servers[n % 3].post(CONFIG_MAPS, {"metadata": {"name": f"c{n}"}}) for n in range(12))
        responses = [response.code for response in await asyncio.gather(*requested)]
        assert responses.count(201) == 5, responses
        assert (await servers[1].get(path)).body["status"]["used"] == {"count/configmaps": "5"}


async def test_priority_classes_made_through_one_server_are_known_to_another_at_once() -> None:
    async with several(2) as (a, b):
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        await a.create(path, {"metadata": {"name": "high"}, "value": 1000})
        pod = {
            "metadata": {"name": "p"},
            "spec": {"priorityClassName": "high", "containers": [{"name": "c", "image": "i"}]},
        }
        made: dict[str, Any] = await b.create("/api/v1/namespaces/default/pods?dryRun=All", pod)
        assert made["spec"]["priority"] == 1000


@pytest.mark.parametrize("count", [2, 4])
async def test_servers_that_start_at_the_same_moment_on_an_empty_store_all_succeed(count: int) -> None:
    store = MemoryStore()
    await store.open()
    up = asyncio.Barrier(count)

    async def run(n: int) -> str:
        async with one_of(store, n) as server:
            await up.wait()
            uid = await _uid(server)
            await up.wait()
            return uid

    uids = await asyncio.gather(*(run(n) for n in range(count)))
    assert len(set(uids)) == 1


async def _uid(server: Server) -> str:
    found = (await server.get("/api/v1/namespaces/default/services/kubernetes")).body
    assert found["spec"]["clusterIP"] == "10.96.0.1"
    uid: str = found["metadata"]["uid"]
    return uid


async def test_generated_names_and_uids_are_different_on_all_servers() -> None:
    async with several(3) as servers:
        body = {"metadata": {"generateName": "c-"}}
        made = await asyncio.gather(*(servers[n % 3].create(CONFIG_MAPS, body) for n in range(90)))
        assert len({item["metadata"]["name"] for item in made}) == 90
        assert len({item["metadata"]["uid"] for item in made}) == 90
