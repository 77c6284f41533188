"""Prevention of privilege escalation. In each test, jane manages roles on a server and has a few rights."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.server.authorization.caches import RBAC, account, binding, group, role, rule, user
from tests.server.cluster import Api, ApiResponse, served
from tests.server.frame import JANE

ROOT = f"/apis/{RBAC}/v1"
MANAGES = rule("create update patch get delete", RBAC, "roles rolebindings clusterroles clusterrolebindings")
READS = rule("get list", "core", "pods")
REFUSED = (
    'user "jane" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held'
)


@asynccontextmanager
async def janes(*more: dict[str, Any]) -> AsyncIterator[tuple[Api, Api]]:
    """The administrator's and jane's view of a server. jane manages roles, reads pods, and may do `more`."""
    async with served() as admin:
        await admin.create(f"{ROOT}/clusterroles", role("janes", MANAGES, READS, *more))
        await admin.create(f"{ROOT}/clusterrolebindings", binding("janes", "janes", user("jane")))
        yield admin, Api(admin.server, JANE)


async def test_a_role_may_grant_the_rights_of_its_writer() -> None:
    async with janes() as (_, jane):
        target = f"{ROOT}/namespaces/default/roles"
        response = await jane.post(target, role("r", rule("get", "core", "pods"), namespace="default"))
        assert response.code == 201


async def test_a_role_with_more_rights_is_refused_with_the_missing_rights() -> None:
    async with janes() as (_, jane):
        more = role("r", rule("get delete", "core", "pods secrets"), namespace="default")
        response = await jane.post(f"{ROOT}/namespaces/default/roles", more)
        assert (response.code, response.reason) == (403, "Forbidden")
        assert response.message == (
            f'roles.{RBAC} "r" is forbidden: {REFUSED}:\n'
            '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}'
        )


async def test_the_verb_escalate_allows_additional_rights() -> None:
    async with janes(rule("escalate", RBAC, "clusterroles")) as (_, jane):
        assert (await jane.post(f"{ROOT}/clusterroles", role("all", rule("*", "*", "*")))).code == 201


Change = Callable[[Api], Awaitable[ApiResponse]]
FORCED = "fieldManager=tests&force=true"
GROWN = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
CHANGES: list[Any] = [
    pytest.param(lambda api: api.put(f"{ROOT}/clusterroles/small", role("small", *GROWN)), id="PUT"),
    pytest.param(lambda api: api.put(f"{ROOT}/clusterroles/new", role("new", *GROWN)), id="PUT that creates"),
    pytest.param(lambda api: api.patch(f"{ROOT}/clusterroles/small", {"rules": GROWN}), id="merge patch"),
    pytest.param(
        lambda api: api.patch(f"{ROOT}/clusterroles/small", [{"op": "add", "path": "/rules", "value": GROWN}], "json"),
        id="JSON patch",
    ),
    pytest.param(lambda api: api.apply(f"{ROOT}/clusterroles/small", role("small", *GROWN), FORCED), id="apply"),
    pytest.param(lambda api: api.apply(f"{ROOT}/clusterroles/other", role("other", *GROWN)), id="apply that creates"),
    pytest.param(
        lambda api: api.put(f"{ROOT}/clusterroles/small?dryRun=All", role("small", *GROWN)), id="dry run of a PUT"
    ),
]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_role_does_not_grow_in_any_other_way(change: Change) -> None:
    async with janes() as (admin, jane):
        await admin.create(f"{ROOT}/clusterroles", role("small", READS))
        response = await change(jane)
        assert response.code == 403, response.body
        assert REFUSED in response.message


async def test_finalizers_and_owners_of_a_larger_role_may_change() -> None:
    async with janes() as (admin, jane):
        await admin.create(f"{ROOT}/clusterroles", role("large", rule("*", "*", "*")))
        response = await jane.patch(f"{ROOT}/clusterroles/large", {"metadata": {"finalizers": ["example.com/x"]}})
        assert response.code == 200
        response = await jane.patch(f"{ROOT}/clusterroles/large", {"metadata": {"labels": {"a": "b"}}})
        assert response.code == 403


async def test_a_binding_needs_the_rights_of_its_role() -> None:
    async with janes() as (_, jane):
        target = f"{ROOT}/clusterrolebindings"
        response = await jane.post(target, binding("b", "cluster-admin", user("jane")))
        assert response.code == 403
        assert f'clusterrolebindings.{RBAC} "b" is forbidden: {REFUSED}:' in response.message
        assert (
            '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}' in response.message
        )
        assert (await jane.post(target, binding("c", "janes", group("others")))).code == 201


async def test_a_binding_to_a_role_that_is_not_there_is_404() -> None:
    async with janes() as (_, jane):
        response = await jane.post(f"{ROOT}/clusterrolebindings", binding("b", "gone", user("jane")))
        assert (response.code, response.message) == (404, f'clusterrolebindings.{RBAC} "gone" not found')


async def test_a_binding_for_the_whole_cluster_to_a_role_of_a_namespace_is_400() -> None:
    async with janes() as (_, jane):
        response = await jane.post(f"{ROOT}/clusterrolebindings", binding("b", "local", user("jane"), kind="Role"))
        assert (response.code, response.message) == (400, "Namespace parameter required.")


async def test_the_verb_bind_lets_a_role_be_bound() -> None:
    async with janes(rule("bind", RBAC, "clusterroles", ["edit"])) as (_, jane):
        target = f"{ROOT}/namespaces/default/rolebindings"
        assert (await jane.post(target, binding("b", "edit", account("bot"), namespace="default"))).code == 201
        response = await jane.post(target, binding("c", "cluster-admin", account("bot"), namespace="default"))
        assert response.code == 403


async def test_more_subjects_of_a_larger_role_are_refused() -> None:
    async with janes() as (admin, jane):
        await admin.create(f"{ROOT}/clusterrolebindings", binding("b", "cluster-admin", user("root")))
        change = {"subjects": [user("root"), user("jane")]}
        assert (await jane.patch(f"{ROOT}/clusterrolebindings/b", change)).code == 403


async def test_an_aggregation_rule_takes_all_rights() -> None:
    async with janes() as (_, jane):
        collects = role("sum") | {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
        response = await jane.post(f"{ROOT}/clusterroles", collects)
        assert response.code == 403
        assert response.message.endswith("must have cluster-admin privileges to use the aggregationRule")


async def test_missing_roles_of_the_writer_are_reported() -> None:
    async with janes() as (admin, jane):
        await admin.create(f"{ROOT}/clusterrolebindings", binding("x", "gone", user("jane")))
        response = await jane.post(f"{ROOT}/clusterroles", role("r", rule("get", "core", "nodes")))
        assert response.message.endswith(f'; resolution errors: [clusterroles.{RBAC} "gone" not found]')
