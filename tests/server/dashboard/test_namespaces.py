"""SelfNamespacesReview, and the role that a refused page shows."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.dashboard.browser import PAGE, Browser
from tests.server.frame import JANE

REVIEWS = "/apis/sampan.dev/v1alpha1/selfnamespacesreviews"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = {"group": "", "resource": "pods", "verb": "list"}


def rule(group: str, *resources: str) -> dict[str, Any]:
    """Return a rule that allows reading."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["get", "list", "watch"]}


async def fill_roles(api: Api) -> None:
    """Give the default roles rules, which a controller copies in a whole cluster."""
    rules = [rule("", "pods", "pods/log"), rule("", "secrets"), rule("rbac.authorization.k8s.io", "roles")]
    for number, name in enumerate(("view", "edit", "admin"), 1):
        assert (await api.patch(f"{RBAC}/clusterroles/{name}", {"rules": rules[:number]})).code == 200


@pytest.fixture(autouse=True)
async def _roles(api: Api) -> None:
    await fill_roles(api)


async def bind(api: Api, namespace: str, role: str = "view") -> None:
    """Give jane a ClusterRole in a namespace, or in all of them if it is empty."""
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    subjects = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}]
    target = f"{RBAC}/namespaces/{namespace}/rolebindings" if namespace else f"{RBAC}/clusterrolebindings"
    await api.create(target, {"metadata": {"name": f"jane-{role}"}, "roleRef": reference, "subjects": subjects})


async def review(api: Api, attributes: Any = PODS) -> Any:
    """Return the status of jane's review."""
    reply = await api.post(REVIEWS, {"spec": {"resourceAttributes": attributes}}, **JANE)
    assert reply.code == 201, reply.body
    assert (reply.body["kind"], reply.body["apiVersion"]) == ("SelfNamespacesReview", "sampan.dev/v1alpha1")
    return reply.body["status"]


async def test_a_user_with_two_bindings_sees_their_two_namespaces(api: Api) -> None:
    for name in ("shop", "shop-test", "bank"):
        await api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    assert await review(api) == {"allNamespaces": False, "namespaces": [], "incomplete": False}
    await bind(api, "shop")
    await bind(api, "shop-test")
    assert await review(api) == {"allNamespaces": False, "namespaces": ["shop", "shop-test"], "incomplete": False}
    assert (await review(api, {"resource": "secrets", "verb": "list"}))["namespaces"] == []
    assert (await review(api, {**PODS, "subresource": "log", "verb": "get"}))["namespaces"] == ["shop", "shop-test"]


async def test_a_cluster_role_binding_is_for_all_namespaces(api: Api) -> None:
    await bind(api, "")
    assert await review(api) == {"allNamespaces": True, "namespaces": [], "incomplete": False}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        {},
        {"spec": {"resourceAttributes": []}},
        {"spec": {"resourceAttributes": {"verb": "list"}}},
        {"spec": {"resourceAttributes": {"resource": "pods"}}},
        {"spec": {"resourceAttributes": {**PODS, "verb": 1}}},
        {"spec": {"resourceAttributes": {**PODS, "namespace": "a"}}},
    ],
    ids=str,
)
async def test_an_invalid_review_is_refused(api: Api, body: Any) -> None:
    assert (await api.post(REVIEWS, body, **JANE)).code == 400


async def test_anonymous_users_get_no_review(browser: Browser) -> None:
    body = {"spec": {"resourceAttributes": PODS}}
    assert (await browser.fetch("POST", REVIEWS, body)).code == 403


@pytest.mark.parametrize(("method", "path"), [("GET", REVIEWS), ("DELETE", f"{REVIEWS}/x")])
async def test_reviews_are_only_created(api: Api, method: str, path: str) -> None:
    assert (await api.fetch(method, path)).code == 405


@pytest.mark.parametrize(
    ("target", "role", "binding"),
    [
        ("/api/v1/namespaces/shop/pods", "view", "RoleBinding"),
        ("/api/v1/namespaces/shop/secrets", "edit", "RoleBinding"),
        ("/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles", "admin", "RoleBinding"),
        ("/api/v1/nodes", "cluster-admin", "ClusterRoleBinding"),
        ("/metrics", "cluster-admin", "ClusterRoleBinding"),
    ],
)
async def test_a_refused_page_gets_a_role_that_would_do(browser: Browser, target: str, role: str, binding: str) -> None:
    await browser.log_in()
    reply = await browser.get(target)
    (cause,) = reply.body["details"]["causes"]
    assert (reply.code, cause) == (403, {"reason": "ClusterRole", "message": role, "field": binding})
    other = await browser.api.get(target, **JANE)
    assert other.message == reply.message
    assert "causes" not in other.body["details"]


async def test_the_suggested_role_does_it(api: Api, browser: Browser) -> None:
    await browser.log_in()
    role = (await browser.get("/api/v1/namespaces/shop/secrets")).body["details"]["causes"][0]["message"]
    await api.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    await bind(api, "shop", role)
    assert (await browser.get("/api/v1/namespaces/shop/secrets", **PAGE)).code == 200
