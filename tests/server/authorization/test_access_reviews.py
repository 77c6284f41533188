"""The four review APIs."""

from typing import Any

import pytest

from tests.server.authorization.caches import RBAC, binding, group, role, rule, user
from tests.server.cluster import Api, ApiResponse, served
from tests.server.frame import JANE

ROOT = "/apis/authorization.k8s.io/v1"
POLICY = f"/apis/{RBAC}/v1"


def resource_attributes(verb: str, resource: str, **more: Any) -> dict[str, Any]:
    """Resource attributes."""
    return {"resourceAttributes": {"verb": verb, "resource": resource, **more}}


async def reviewed(api: Api, spec: dict[str, Any], kind: str = "subjectaccessreviews") -> ApiResponse:
    """Post a review."""
    return await api.post(f"{ROOT}/{kind}", {"spec": spec})


async def jane_reads_pods(api: Api) -> None:
    """Give jane a right."""
    await api.create(f"{POLICY}/clusterroles", role("reader", rule("get", "core", "pods", ["a"])))
    await api.create(f"{POLICY}/clusterrolebindings", binding("b", "reader", user("jane")))


async def test_a_review_returns_the_rights_of_another_user() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        response = await reviewed(api, {"user": "jane", **resource_attributes("get", "pods", name="a")})
        assert response.code == 201
        assert response.body["status"] == {
            "allowed": True,
            "reason": 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"',
        }
        assert list(response.body) == ["kind", "apiVersion", "metadata", "spec", "status"]
        response = await reviewed(api, {"user": "jane", **resource_attributes("get", "pods", name="b")})
        assert response.body["status"] == {"allowed": False}


async def test_a_review_stores_nothing() -> None:
    async with served() as api:
        before = await api.cluster.store.revision()
        await reviewed(api, {"user": "jane", **resource_attributes("get", "pods")})
        assert await api.cluster.store.revision() == before


async def test_groups_and_paths_are_reviewed_too() -> None:
    async with served() as api:
        masters = {"groups": ["system:masters"], "nonResourceAttributes": {"path": "/x", "verb": "put"}}
        assert (await reviewed(api, masters)).body["status"]["allowed"] is True
        rest = {"groups": ["system:unauthenticated"], "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}
        assert (await reviewed(api, rest)).body["status"]["allowed"] is True


async def test_a_user_needs_only_the_default_rights_for_a_self_review() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        jane = Api(api.server, JANE)
        response = await reviewed(jane, resource_attributes("get", "pods", name="a"), "selfsubjectaccessreviews")
        assert (response.code, response.body["status"]["allowed"]) == (201, True)
        assert (await reviewed(jane, {"user": "joe", **resource_attributes("get", "pods")})).code == 403


async def test_a_local_review_is_of_its_namespace() -> None:
    async with served() as api:
        target = f"{ROOT}/namespaces/default/localsubjectaccessreviews"
        spec = {"user": "jane", **resource_attributes("get", "pods", namespace="default")}
        assert (await api.post(target, {"spec": spec})).body["status"] == {"allowed": False}
        other = {"user": "jane", **resource_attributes("get", "pods", namespace="east")}
        response = await api.post(target, {"spec": other})
        assert response.code == 422
        assert response.causes[0]["field"] == "spec.resourceAttributes.namespace"


async def test_rules_are_listed_with_missing_roles() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        await api.create(f"{POLICY}/clusterrolebindings", binding("gone", "gone", group("devs")))
        response = await reviewed(Api(api.server, JANE), {"namespace": "default"}, "selfsubjectrulesreviews")
        status = response.body["status"]
        mine = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}
        assert mine in status["resourceRules"]
        urls = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
        assert any(set(urls) <= set(each["nonResourceURLs"]) for each in status["nonResourceRules"])
        assert status["incomplete"] is False
        assert status["evaluationError"] == f'clusterrole.{RBAC} "gone" not found'


async def test_rules_are_listed_for_one_namespace() -> None:
    async with served() as api:
        response = await reviewed(api, {}, "selfsubjectrulesreviews")
        assert (response.code, response.message) == (400, "no namespace on request")


BOTH = {**resource_attributes("get", "pods"), "nonResourceAttributes": {"path": "/", "verb": "get"}}
FAULTS = [
    pytest.param({"user": "x"}, ["spec.resourceAttributes"], id="nothing asked"),
    pytest.param({"user": "x", **BOTH}, ["spec.nonResourceAttributes"], id="both asked"),
    pytest.param(resource_attributes("get", "pods"), ["spec.user"], id="nobody"),
    pytest.param(
        {"user": "x", **resource_attributes("list", "pods", fieldSelector={})},
        ["spec.resourceAttributes.fieldSelector.requirements"],
        id="empty selector",
    ),
    pytest.param(
        {
            "user": "x",
            **resource_attributes(
                "list",
                "pods",
                labelSelector={"rawSelector": "a=b", "requirements": [{"key": "-", "operator": "In", "values": ["."]}]},
            ),
        },
        [
            "spec.resourceAttributes.labelSelector.rawSelector",
            "spec.resourceAttributes.labelSelector.requirements[0].key",
            "spec.resourceAttributes.labelSelector.requirements[0].values[0]",
        ],
        id="two selectors",
    ),
    pytest.param(
        {
            "user": "x",
            **resource_attributes(
                "list", "pods", fieldSelector={"requirements": [{"operator": "Exists", "values": ["a"]}]}
            ),
        },
        [
            "spec.resourceAttributes.fieldSelector.requirements[0].key",
            "spec.resourceAttributes.fieldSelector.requirements[0].values",
        ],
        id="requirement",
    ),
]


@pytest.mark.parametrize(("spec", "fields"), FAULTS)
async def test_faults_name_their_field(spec: dict[str, Any], fields: list[str]) -> None:
    async with served() as api:
        response = await reviewed(api, spec)
        assert response.code == 422
        assert [cause["field"] for cause in response.causes] == list(dict.fromkeys(fields))
        assert response.message.startswith('.authorization.k8s.io "" is invalid: ')


SELECTORS = [
    pytest.param({"fieldSelector": {"rawSelector": "a=b"}}, "", id="readable"),
    pytest.param(
        {"fieldSelector": {"rawSelector": "a"}, "labelSelector": {"rawSelector": "("}},
        "spec.resourceAttributes.fieldSelector ignored due to parse error; "
        "spec.resourceAttributes.labelSelector ignored due to parse error",
        id="unreadable",
    ),
    pytest.param(
        {
            "labelSelector": {
                "requirements": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Like", "values": ["c"]}]
            }
        },
        "spec.resourceAttributes.labelSelector partially ignored due to parse error",
        id="half unknown",
    ),
]


@pytest.mark.parametrize(("selectors", "error"), SELECTORS)
async def test_invalid_selectors_are_reported(selectors: dict[str, Any], error: str) -> None:
    async with served() as api:
        response = await reviewed(api, {"user": "x", **resource_attributes("list", "pods", **selectors)})
        assert response.body["status"].get("evaluationError", "") == error


async def test_a_node_is_reviewed_with_its_field_selector() -> None:
    node = {"user": "system:node:n1", "groups": ["system:nodes"]}
    own = {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}
    async with served() as api:
        assert (await reviewed(api, {**node, **resource_attributes("list", "pods", fieldSelector=own)})).body["status"][
            "allowed"
        ]
        response = await reviewed(api, {**node, **resource_attributes("list", "pods")})
        reason = "can only list/watch pods with spec.nodeName field selector"
        assert response.body["status"] == {"allowed": False, "reason": reason}
