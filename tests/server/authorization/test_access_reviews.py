"""The four review APIs."""

from typing import Any

import pytest

from tests.server.authorization.caches import RBAC, binding, group, role, rule, user
from tests.server.cluster import Answer, Api, served
from tests.server.frame import JANE

ROOT = "/apis/authorization.k8s.io/v1"
POLICY = f"/apis/{RBAC}/v1"


def asks(verb: str, resource: str, **more: Any) -> dict[str, Any]:
    """Resource attributes."""
    return {"resourceAttributes": {"verb": verb, "resource": resource, **more}}


async def reviewed(api: Api, spec: dict[str, Any], kind: str = "subjectaccessreviews") -> Answer:
    """Post a review."""
    return await api.post(f"{ROOT}/{kind}", {"spec": spec})


async def jane_reads_pods(api: Api) -> None:
    """Give jane a right."""
    await api.create(f"{POLICY}/clusterroles", role("reader", rule("get", "core", "pods", ["a"])))
    await api.create(f"{POLICY}/clusterrolebindings", binding("b", "reader", user("jane")))


async def test_a_review_returns_the_rights_of_another_user() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        answer = await reviewed(api, {"user": "jane", **asks("get", "pods", name="a")})
        assert answer.code == 201
        assert answer.body["status"] == {
            "allowed": True,
            "reason": 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"',
        }
        assert list(answer.body) == ["kind", "apiVersion", "metadata", "spec", "status"]
        answer = await reviewed(api, {"user": "jane", **asks("get", "pods", name="b")})
        assert answer.body["status"] == {"allowed": False}


async def test_a_review_stores_nothing() -> None:
    async with served() as api:
        before = await api.cluster.store.revision()
        await reviewed(api, {"user": "jane", **asks("get", "pods")})
        assert await api.cluster.store.revision() == before


async def test_groups_and_paths_are_reviewed_too() -> None:
    async with served() as api:
        masters = {"groups": ["system:masters"], "nonResourceAttributes": {"path": "/x", "verb": "put"}}
        assert (await reviewed(api, masters)).body["status"]["allowed"] is True
        others = {"groups": ["system:unauthenticated"], "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}
        assert (await reviewed(api, others)).body["status"]["allowed"] is True


async def test_a_user_needs_only_the_default_rights_for_a_self_review() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        jane = Api(api.server, JANE)
        answer = await reviewed(jane, asks("get", "pods", name="a"), "selfsubjectaccessreviews")
        assert (answer.code, answer.body["status"]["allowed"]) == (201, True)
        assert (await reviewed(jane, {"user": "joe", **asks("get", "pods")})).code == 403


async def test_a_local_review_is_of_its_namespace() -> None:
    async with served() as api:
        target = f"{ROOT}/namespaces/default/localsubjectaccessreviews"
        spec = {"user": "jane", **asks("get", "pods", namespace="default")}
        assert (await api.post(target, {"spec": spec})).body["status"] == {"allowed": False}
        other = {"user": "jane", **asks("get", "pods", namespace="east")}
        answer = await api.post(target, {"spec": other})
        assert answer.code == 422
        assert answer.causes[0]["field"] == "spec.resourceAttributes.namespace"


async def test_rules_are_listed_with_missing_roles() -> None:
    async with served() as api:
        await jane_reads_pods(api)
        await api.create(f"{POLICY}/clusterrolebindings", binding("gone", "gone", group("devs")))
        answer = await reviewed(Api(api.server, JANE), {"namespace": "default"}, "selfsubjectrulesreviews")
        status = answer.body["status"]
        mine = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}
        assert mine in status["resourceRules"]
        urls = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
        assert any(set(urls) <= set(each["nonResourceURLs"]) for each in status["nonResourceRules"])
        assert status["incomplete"] is False
        assert status["evaluationError"] == f'clusterrole.{RBAC} "gone" not found'


async def test_rules_are_listed_for_one_namespace() -> None:
    async with served() as api:
        answer = await reviewed(api, {}, "selfsubjectrulesreviews")
        assert (answer.code, answer.message) == (400, "no namespace on request")


BOTH = {**asks("get", "pods"), "nonResourceAttributes": {"path": "/", "verb": "get"}}
FAULTS = [
    pytest.param({"user": "x"}, ["spec.resourceAttributes"], id="nothing asked"),
    pytest.param({"user": "x", **BOTH}, ["spec.nonResourceAttributes"], id="both asked"),
    pytest.param(asks("get", "pods"), ["spec.user"], id="nobody"),
    pytest.param(
        {"user": "x", **asks("list", "pods", fieldSelector={})},
        ["spec.resourceAttributes.fieldSelector.requirements"],
        id="empty selector",
    ),
    pytest.param(
        {
            "user": "x",
            **asks(
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
            **asks("list", "pods", fieldSelector={"requirements": [{"operator": "Exists", "values": ["a"]}]}),
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
        answer = await reviewed(api, spec)
        assert answer.code == 422
        assert [cause["field"] for cause in answer.causes] == list(dict.fromkeys(fields))
        assert answer.message.startswith('.authorization.k8s.io "" is invalid: ')


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
        answer = await reviewed(api, {"user": "x", **asks("list", "pods", **selectors)})
        assert answer.body["status"].get("evaluationError", "") == error


async def test_a_node_is_reviewed_with_its_field_selector() -> None:
    node = {"user": "system:node:n1", "groups": ["system:nodes"]}
    own = {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}
    async with served() as api:
        assert (await reviewed(api, {**node, **asks("list", "pods", fieldSelector=own)})).body["status"]["allowed"]
        answer = await reviewed(api, {**node, **asks("list", "pods")})
        reason = "can only list/watch pods with spec.nodeName field selector"
        assert answer.body["status"] == {"allowed": False, "reason": reason}
