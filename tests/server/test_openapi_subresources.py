"""OpenAPI names the subresources that are served, each with its methods and kinds."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.cluster import Api, served

POD = "/api/v1/namespaces/{namespace}/pods/{name}"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """An empty cluster."""
    async with served() as api:
        yield api


async def paths(api: Api, group_version: str) -> dict[str, Any]:
    """The paths of a document."""
    found: dict[str, Any] = (await api.get(f"/openapi/v3/{group_version}")).body["paths"]
    return found


def schema_of(part: dict[str, Any]) -> str:
    """The name of the definition of a body or an answer."""
    reference: str = part["content"]["application/json"]["schema"]["$ref"]
    return reference.rpartition("/")[2]


async def test_an_eviction_is_posted_and_returns_a_status(api: Api) -> None:
    operation = (await paths(api, "api/v1"))[f"{POD}/eviction"]["post"]
    assert operation["operationId"] == "createCoreV1NamespacedPodEviction"
    assert operation["description"] == "create eviction of a Pod"
    assert operation["x-kubernetes-group-version-kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert schema_of(operation["requestBody"]) == "io.k8s.api.policy.v1.Eviction"
    assert schema_of(operation["responses"]["201"]) == "io.k8s.apimachinery.pkg.apis.meta.v1.Status"


@pytest.mark.parametrize(
    ("group_version", "path", "methods"),
    [
        ("api/v1", f"{POD}/binding", {"post"}),
        ("api/v1", f"{POD}/ephemeralcontainers", {"get", "put", "patch"}),
        ("api/v1", f"{POD}/resize", {"get", "put", "patch"}),
        ("api/v1", "/api/v1/namespaces/{name}/finalize", {"put"}),
        (
            "apis/certificates.k8s.io/v1",
            "/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}/approval",
            {"get", "put", "patch"},
        ),
    ],
    ids=lambda value: value.rpartition("/")[2] if isinstance(value, str) else "",
)
async def test_subresources_have_their_methods(api: Api, group_version: str, path: str, methods: set[str]) -> None:
    assert (await paths(api, group_version))[path].keys() - {"parameters"} == methods


async def test_the_schema_of_a_body_is_defined_in_its_document(api: Api) -> None:
    document = (await api.get("/openapi/v3/api/v1")).body
    assert "io.k8s.api.policy.v1.Eviction" in document["components"]["schemas"]
    definitions = (await api.get("/openapi/v2")).body["definitions"]
    assert "io.k8s.api.policy.v1.Eviction" in definitions


PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
OLD_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", "application/json"),
        (f"{OLD_PROTOBUF},application/json", PROTOBUF),
        (f"{PROTOBUF};q=0.5,application/json;q=0.9", "application/json"),
        (f"application/json;q=0.5,{PROTOBUF}", PROTOBUF),
        (f"text/html,{PROTOBUF};q=0.1", PROTOBUF),
    ],
)
async def test_the_form_that_the_client_prefers_is_sent(api: Api, accept: str, media_type: str) -> None:
    assert (await api.get("/openapi/v2", accept=accept)).response.content_type == media_type


async def test_other_forms_are_not_acceptable(api: Api) -> None:
    assert (await api.get("/openapi/v2", accept="text/html")).code == 406


async def test_lists_of_parameters_are_left_out_when_they_are_empty(api: Api) -> None:
    def empty(node: Any, where: str) -> list[str]:
        if isinstance(node, dict):
            here = [where] if node.get("parameters") == [] else []
            return here + [each for key, value in node.items() for each in empty(value, f"{where} {key}")]
        return [each for value in node for each in empty(value, where)] if isinstance(node, list) else []

    documents = (await api.get("/openapi/v3")).body["paths"]
    for path in ("/openapi/v2", *(f"/openapi/v3/{name}" for name in documents)):
        assert empty((await api.get(path)).body["paths"], path) == []
