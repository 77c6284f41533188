"""A user with every right but create never creates: not by PUT, apply or patch, not through a subresource."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.write.write import Write
from sampan.server.verbs.write.write import RequestGate
from tests.server.authorization.caches import RBAC, binding, role, rule, user
from tests.server.cluster import CONTENT_TYPES, Api, ApiResponse, served
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, crd, shirt, version
from tests.server.frame import JANE
from tests.server.smallest import Served, served_resources

ALL_BUT_CREATE = (
    "get list watch update patch delete deletecollection bind escalate impersonate approve sign attest proxy use"
)
CREATED_BY_PUT = {
    "endpoints",
    "events",
    "events.k8s.io/events",
    "limitranges",
    "services",
    "coordination.k8s.io/leases",
    "node.k8s.io/runtimeclasses",
    f"{RBAC}/clusterrolebindings",
    f"{RBAC}/clusterroles",
    f"{RBAC}/rolebindings",
    f"{RBAC}/roles",
}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
LEASE = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "absent"}}
WRITES = ["put", *CONTENT_TYPES]


@asynccontextmanager
async def cluster(*rules: dict[str, Any]) -> AsyncIterator[tuple[Api, Api]]:
    """The administrator, and jane with these rights in the whole cluster. Custom resources are served too."""
    async with served() as admin:
        scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
        parts: Object = {"subresources": {"status": {}, "scale": scale}}
        await admin.create(CRDS, crd(version("v1", **parts), version("v2", storage=False, **parts)))
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("hers", *rules))
        await admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", binding("hers", "hers", user("jane")))
        yield admin, Api(admin.server, JANE)


async def write(api: Api, how: str, served_: Served, query: str = "") -> ApiResponse:
    """Write to the path of the smallest object, which is absent."""
    body: Any = served_.smallest() if not served_.subresource else minimal(served_)
    if how == "put":
        return await api.put(f"{served_.path}?{query}", body)
    if how == "json":
        return await api.patch(f"{served_.path}?{query}", [{"op": "add", "path": "/metadata/labels", "value": {}}], how)
    manager = "fieldManager=tests&force=true&" if how == "apply" else ""
    return await api.patch(f"{served_.path}?{manager}{query}", body, how)


def minimal(served_: Served) -> Object:
    """A body for a subresource: of the kind of the object itself, where that is the kind of the subresource too."""
    if served_.kind == "Scale":
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {"name": "absent"},
            "spec": {"replicas": 1},
        }
    return served_.smallest()


async def stored_keys(api: Api) -> set[str]:
    """The keys of all stored objects, but for what the server itself makes when a custom resource is first served."""
    found = {row.key for row in (await api.cluster.store.range("/", "0")).items}
    return {key for key in found if not (key.startswith("/registry/apiregistration") and key.endswith(GROUP))}


@pytest.mark.parametrize("query", ["", "dryRun=All"], ids=["real", "dry run"])
@pytest.mark.parametrize("how", WRITES)
async def test_no_write_creates_for_a_user_with_all_rights_but_create(how: str, query: str) -> None:
    async with cluster(rule(ALL_BUT_CREATE, "*", "*")) as (admin, jane):
        before = await stored_keys(admin)
        requested = 0
        async for each in served_resources(admin):
            response = await write(jane, how, each, query)
            requested += 1
            assert response.code >= 400, (each, response.body)
            if not each.subresource and "patch" in each.verbs and (how == "apply" or each.key in CREATED_BY_PUT):
                expected = 403 if how in ("apply", "put") else 404
                assert response.code == expected, (each, response.body)
        assert requested > 100
        assert await stored_keys(admin) == before


@pytest.mark.parametrize("how", ["apply", "put"])
async def test_these_writes_create_for_a_user_with_the_right(how: str) -> None:
    """Shows that the test above sends what would create."""
    async with cluster(rule("*", "*", "*")) as (_, jane):
        async for each in served_resources(jane):
            creates = how == "apply" or each.key in CREATED_BY_PUT
            if not each.subresource and "patch" in each.verbs and creates:
                response = await write(jane, how, each, "dryRun=All")
                assert response.code == 201, (each, response.body)


@pytest.mark.parametrize("query", ["", "dryRun=All"], ids=["real", "dry run"])
@pytest.mark.parametrize("how", WRITES)
async def test_no_subresource_creates_its_object_even_for_an_administrator(how: str, query: str) -> None:
    async with cluster() as (admin, _):
        before = await stored_keys(admin)
        async for each in served_resources(admin):
            if each.subresource and not each.kind.endswith("Options"):  # those are connections
                response = await write(admin, how, each, query)
                expected = (
                    {404} if how in ("apply", "put") and "patch" in each.verbs else {400, 404, 405, 409, 415, 422}
                )
                assert response.code in expected, (each, response.body)
        assert await stored_keys(admin) == before


async def test_no_posted_subresource_creates_its_object() -> None:
    async with cluster() as (admin, _):
        before = await stored_keys(admin)
        async for each in served_resources(admin):
            if each.subresource and "create" in each.verbs:
                response = await admin.post(each.path, {"metadata": {"name": "absent"}, "target": {"name": "n"}})
                assert response.code >= 400, (each, response.body)
        assert await stored_keys(admin) == before


@pytest.mark.parametrize("how", ["apply", "put"])
async def test_the_refusal_is_that_of_a_create(how: str) -> None:
    async with cluster(rule(ALL_BUT_CREATE, "*", "*")) as (_, jane):
        path = f"{LEASES}/absent"
        response = await jane.put(path, LEASE) if how == "put" else await jane.apply(path, LEASE)
        assert (response.code, response.reason) == (403, "Forbidden")
        assert response.message == (
            'leases.coordination.k8s.io "absent" is forbidden: User "jane" cannot create resource "leases" '
            'in API group "coordination.k8s.io" in the namespace "default"'
        )
        assert response.body["details"] == {"name": "absent", "group": "coordination.k8s.io", "kind": "leases"}


async def test_create_with_a_resource_name_allows_an_apply_of_that_name_alone() -> None:
    rules = rule("patch", "*", "*"), rule("create", "*", "leases", ["absent"])
    async with cluster(*rules) as (_, jane):
        other = {**LEASE, "metadata": {"name": "other"}}
        assert (await jane.apply(f"{LEASES}/other", other)).code == 403
        assert (await jane.apply(f"{LEASES}/absent", LEASE)).code == 201


async def test_rights_within_a_namespace_do_not_create_the_namespace() -> None:
    async with served() as admin:
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("hers", rule("patch", "*", "*")))
        await admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", binding("hers", "hers", user("jane")))
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("all", rule("*", "*", "*")))
        await admin.create("/api/v1/namespaces", {"metadata": {"name": "absent"}})
        local = f"/apis/{RBAC}/v1/namespaces/absent/rolebindings"
        await admin.create(local, binding("all", "all", user("jane"), namespace="absent"))
        jane, body = Api(admin.server, JANE), {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "absent"}}
        assert (await jane.apply("/api/v1/namespaces/absent", body)).code == 200
        namespaces = admin.cluster.endpoint("", "v1", "namespaces")
        assert namespaces is not None
        row = await admin.cluster.store.get(namespaces.store.key("", "absent"))
        assert row is not None
        await admin.cluster.store.delete(row.key, row.mod_revision)  # the binding stays, as after a partial restore
        response = await jane.apply("/api/v1/namespaces/absent", body)
        assert response.code == 403
        assert response.message.endswith('cannot create resource "namespaces" in API group "" at the cluster scope')


@pytest.mark.parametrize("how", ["apply", "put"])
async def test_a_delete_during_the_write_does_not_let_it_create(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object goes after the write has begun from it and before it is stored: the next attempt would create."""
    async with cluster(rule(ALL_BUT_CREATE, "*", "*")) as (admin, jane):
        limits, path = "/api/v1/namespaces/default/limitranges", "/api/v1/namespaces/default/limitranges/absent"
        body: Object = {"kind": "LimitRange", "apiVersion": "v1", "metadata": {"name": "absent"}}
        await admin.create(limits, body)
        deletions = iter([True])

        async def delete_once(gate: RequestGate, write: Write) -> None:
            if write.old is not None and next(deletions, False):
                assert (await asyncio.create_task(admin.delete(path))).code == 200

        monkeypatch.setattr(RequestGate, "validate", delete_once)
        body["metadata"] = {"name": "absent", "labels": {"a": "b"}}
        response = await jane.put(path, body) if how == "put" else await jane.apply(path, body)
        assert response.code == 403, response.body
        assert next(deletions, None) is None
        assert (await admin.get(path)).code == 404


async def test_an_apply_creates_no_custom_resource_while_its_definition_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with cluster() as (admin, _):
        endpoint = admin.cluster.endpoint(GROUP, "v1", "shirts")
        assert endpoint is not None
        monkeypatch.setattr(endpoint.definition, "terminating", True)
        response = await admin.apply(f"{SHIRTS}/a", shirt("a", {"color": "red"}))
        assert response.code == 403
        assert "create not allowed while custom resource definition is terminating" in response.message
