"""The OpenAPI v2 document has the paths that discovery implies, by kube-apiserver's rules, and shared parameters."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from sampan.server.openapi.merge import below
from sampan.server.openapi.shared_parameters import share_parameters
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRDS, GROUP, crd

Json = dict[str, Any]
SERVER_PATHS = {"/api/", "/apis/", "/version/", "/.well-known/openid-configuration/", "/openid/v1/jwks/"}
WITH_REST = ("nodes/proxy", "pods/proxy", "services/proxy")
PREFIXES = "connect|create|delete|deleteCollection|get|list|patch|read|replace|watch"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        await api.create(CRDS, crd())
        yield api


async def document(api: Api) -> Json:
    found: Json = (await api.get("/openapi/v2")).body
    return found


async def group_versions(api: Api) -> list[str]:
    """`/api/v1` and `/apis/<group>/<version>`."""
    groups = (await api.get("/apis")).body["groups"]
    return ["/api/v1", *[f"/apis/{each['groupVersion']}" for group in groups for each in group["versions"]]]


def paths_of(base: str, resource: Json, *, builtin: bool) -> Iterator[str]:
    """The paths of an entry of discovery."""
    name, _, subresource = resource["name"].partition("/")
    verbs, scope = set(resource["verbs"]), "/namespaces/{namespace}" if resource["namespaced"] else ""
    root = f"{base}{scope}/{name}"
    if subresource:
        yield f"{root}/{{name}}/{subresource}"
        if resource["name"] in WITH_REST:
            yield f"{root}/{{name}}/{subresource}/{{path}}"
        return
    if verbs & {"list", "create", "deletecollection"}:
        yield root
    if "get" in verbs:
        yield f"{root}/{{name}}"
    if scope and "list" in verbs:
        yield f"{base}/{name}"
    if builtin and "watch" in verbs:
        yield f"{base}/watch{scope}/{name}"
        yield f"{base}/watch{scope}/{name}/{{name}}"
        if scope:
            yield f"{base}/watch/{name}"


async def test_the_paths_are_those_that_discovery_implies(api: Api) -> None:
    expected = set(SERVER_PATHS)
    for base in await group_versions(api):
        builtin = not base.startswith(f"/apis/{GROUP}/")
        if builtin:
            expected.add(f"{base}/")
            expected |= {f"{base.rpartition('/')[0]}/"} - {"/api/"}
        for resource in (await api.get(base)).body["resources"]:
            expected.update(paths_of(base, resource, builtin=builtin))
    expected = {path for path in expected if "sampan.dev" not in path}
    found = {path for path in (await document(api))["paths"] if "sampan.dev" not in path}
    assert found == expected


async def test_operation_ids_are_unique_and_begin_with_their_action(api: Api) -> None:
    ids = [each["operationId"] for _, _, each in operations(await document(api))]
    assert len(ids) == len(set(ids))
    assert [each for each in ids if not re.match(rf"({PREFIXES})[A-Z]\w+$", each)] == []


@pytest.mark.parametrize(
    ("path", "method", "operation_id", "action", "kind"),
    [
        ("/api/v1/watch/pods", "get", "watchCoreV1PodListForAllNamespaces", "watchlist", "Pod"),
        ("/api/v1/watch/namespaces/{namespace}/pods", "get", "watchCoreV1NamespacedPodList", "watchlist", "Pod"),
        ("/api/v1/watch/namespaces/{namespace}/pods/{name}", "get", "watchCoreV1NamespacedPod", "watch", "Pod"),
        ("/api/v1/watch/nodes", "get", "watchCoreV1NodeList", "watchlist", "Node"),
        ("/api/v1/watch/nodes/{name}", "get", "watchCoreV1Node", "watch", "Node"),
        ("/api/v1/namespaces/{namespace}/pods/{name}/log", "get", "readCoreV1NamespacedPodLog", "get", "Pod"),
        (
            "/api/v1/namespaces/{namespace}/pods/{name}/exec",
            "post",
            "connectCoreV1PostNamespacedPodExec",
            "connect",
            "PodExecOptions",
        ),
        (
            "/api/v1/namespaces/{namespace}/services/{name}/proxy/{path}",
            "head",
            "connectCoreV1HeadNamespacedServiceProxyWithPath",
            "connect",
            "ServiceProxyOptions",
        ),
        ("/api/v1/nodes/{name}/proxy", "options", "connectCoreV1OptionsNodeProxy", "connect", "NodeProxyOptions"),
    ],
)
async def test_operations_are_named_as_by_kube_apiserver(
    api: Api, path: str, method: str, operation_id: str, action: str, kind: str
) -> None:
    operation = (await document(api))["paths"][path][method]
    assert operation["operationId"] == operation_id
    assert operation["x-kubernetes-action"] == action
    assert operation["x-kubernetes-group-version-kind"]["kind"] == kind
    assert operation["tags"] == ["core_v1"]


@pytest.mark.parametrize(
    ("path", "operation_id", "tag"),
    [
        ("/api/", "getCoreAPIVersions", "core"),
        ("/api/v1/", "getCoreV1APIResources", "core_v1"),
        ("/apis/", "getAPIVersions", "apis"),
        ("/apis/apps/", "getAppsAPIGroup", "apps"),
        ("/apis/rbac.authorization.k8s.io/v1/", "getRbacAuthorizationV1APIResources", "rbacAuthorization_v1"),
        ("/version/", "getCodeVersion", "version"),
    ],
)
async def test_discovery_has_operations(api: Api, path: str, operation_id: str, tag: str) -> None:
    operation = (await document(api))["paths"][path]["get"]
    assert (operation["operationId"], operation["tags"]) == (operation_id, [tag])
    assert "x-kubernetes-action" not in operation


async def test_an_operation_has_the_tag_of_its_path(api: Api) -> None:
    scale = (await document(api))["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"]
    assert scale["tags"] == ["apps_v1"]


async def test_all_references_lead_somewhere(api: Api) -> None:
    found = await document(api)
    places = {"definitions": found["definitions"], "parameters": found["parameters"]}
    assert len(found["parameters"]) > 30
    for reference in references(found):
        _, place, name = reference.split("/", 2)
        assert name in places[place]


async def test_only_parameters_that_depend_on_the_kind_are_not_shared(api: Api) -> None:
    paths = (await document(api))["paths"]
    lists = [item.get("parameters", ()) for item in paths.values()]
    lists += [operation.get("parameters", ()) for _, _, operation in operations({"paths": paths})]
    assert {each["name"] for parameters in lists for each in parameters if "$ref" not in each} == {"body", "name"}


async def test_the_message_of_a_watch_is_defined(api: Api) -> None:
    found = await document(api)
    response = found["paths"]["/api/v1/watch/pods"]["get"]["responses"]["200"]["schema"]["$ref"]
    assert "type" in found["definitions"][response.rpartition("/")[2]]["properties"]


def test_parameters_that_another_server_shares_are_kept_when_its_paths_are_taken() -> None:
    pretty = {"name": "pretty", "in": "query", "type": "string"}
    operation = {"parameters": [pretty, {"name": "name", "in": "path", "type": "string"}]}
    theirs = share_parameters({"paths": {"/apis/a/v1/x": {"get": operation, "parameters": [pretty]}}})
    assert list(theirs["parameters"]) != []
    assert below(theirs, "/apis/a/v1")["paths"] == {"/apis/a/v1/x": {"get": operation, "parameters": [pretty]}}


def operations(found: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in found["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)
