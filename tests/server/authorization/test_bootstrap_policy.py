"""Default roles: creation, restoration, and additions by users."""

from typing import Any

import pytest

from sampan.server.authorization.bootstrap_policy.objects import (
    AUTO_UPDATE,
    cluster_role_bindings,
    cluster_roles,
    role_bindings,
    roles,
)
from sampan.server.authorization.bootstrap_policy.reconcile import ensure_policy, merged
from tests.server.authorization.caches import RBAC, rule, user
from tests.server.cluster import Api, served
from tests.server.frame import JANE

ROOT = f"/apis/{RBAC}/v1"


async def ensure(api: Api) -> None:
    """As at a start."""
    await ensure_policy(api.cluster.endpoint, api.cluster.clock)


def test_there_are_as_many_as_in_kubernetes() -> None:
    makers = (cluster_roles, cluster_role_bindings, roles, role_bindings)
    assert [len(list(maker())) for maker in makers] == [69, 50, 7, 7]


async def test_the_api_accepts_every_default_object() -> None:
    async with served() as api:
        for maker in (cluster_roles, cluster_role_bindings, roles, role_bindings):
            for obj in maker():
                namespace = obj["metadata"].get("namespace")
                place = f"{ROOT}/namespaces/{namespace}" if namespace else ROOT
                target = f"{place}/{obj['kind'].lower()}s"
                stored = (await api.get(f"{target}/{obj['metadata']['name']}")).body
                obj["metadata"]["name"] += "-again"
                response = await api.post(f"{target}?dryRun=All", obj)
                assert response.code == 201, response.body
                for each in (stored, response.body):
                    del each["metadata"]
                assert response.body == stored


@pytest.mark.parametrize("rules", [{}, {"rules": []}, {"rules": None}], ids=["absent", "empty", "null"])
async def test_a_role_without_rules_shows_that_it_has_none(rules: dict[str, Any]) -> None:
    async with served() as api:
        made = await api.post(f"{ROOT}/clusterroles", {"metadata": {"name": "none"}, **rules})
        assert (made.code, made.body["rules"]) == (201, None)
        assert (await api.get(f"{ROOT}/clusterroles/view")).body["rules"] is None  # no controller aggregates here


async def test_a_second_start_writes_nothing() -> None:
    async with served() as api:
        before = await api.cluster.store.revision()
        await ensure(api)
        assert await api.cluster.store.revision() == before


async def test_missing_rules_and_subjects_are_restored_and_additions_kept() -> None:
    async with served() as api:
        own = rule("get", "core", "nodes")
        await api.patch(f"{ROOT}/clusterroles/system:kube-dns", {"rules": [own]})
        await api.patch(f"{ROOT}/clusterrolebindings/system:discovery", {"subjects": [user("jane")]})
        await ensure(api)
        found = (await api.get(f"{ROOT}/clusterroles/system:kube-dns")).body["rules"]
        assert found[0] == own
        assert {verb for each in found[1:] for verb in each["verbs"]} == {"list", "watch"}
        subjects = (await api.get(f"{ROOT}/clusterrolebindings/system:discovery")).body["subjects"]
        assert [each["name"] for each in subjects] == ["jane", "system:authenticated"]


async def test_an_object_with_autoupdate_false_is_not_changed() -> None:
    async with served() as api:
        change = {"metadata": {"annotations": {AUTO_UPDATE: "false"}}, "rules": []}
        await api.patch(f"{ROOT}/clusterroles/system:kube-dns", change)
        await ensure(api)
        assert (await api.get(f"{ROOT}/clusterroles/system:kube-dns")).body.get("rules") is None


async def test_a_binding_to_another_role_is_replaced() -> None:
    async with served() as api:
        target = f"{ROOT}/clusterrolebindings/system:discovery"
        before = (await api.get(target)).body
        await api.delete(target)
        other = {"kind": "ClusterRole", "name": "view", "apiGroup": RBAC}
        await api.create(f"{ROOT}/clusterrolebindings", {"metadata": {"name": "system:discovery"}, "roleRef": other})
        await ensure(api)
        after = (await api.get(target)).body
        assert after["roleRef"] == before["roleRef"]
        assert after["subjects"] == before["subjects"]


def test_an_unexpected_aggregation_rule_is_removed() -> None:
    expected: dict[str, Any] = {"metadata": {"labels": {}, "annotations": {}}, "rules": []}
    existing = {"metadata": {}, "aggregationRule": {"clusterRoleSelectors": []}, "rules": []}
    assert "aggregationRule" not in merged(existing, expected)


PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
KNOWN = ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v2"]
NOBODYS = ["/metrics", "/statusz", "/debug/pprof/", "/healthz/ping"]


@pytest.mark.parametrize("path", [*PUBLIC, *KNOWN, *NOBODYS])
async def test_authenticated_users_may_read_discovery(path: str) -> None:
    async with served() as api:
        response = await Api(api.server, JANE).get(path)
        assert (response.code == 403) is (path in NOBODYS)
