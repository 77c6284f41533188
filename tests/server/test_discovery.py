"""Discovery documents, legacy and aggregated."""

from typing import Any, cast

import orjson
import pytest
import yaml

from sampan.core.errors import StatusError
from sampan.core.gvk import GroupVersionKind
from sampan.registry.definition import ResourceDefinition, ScalePaths, SubresourceDefinition, VersionDefinition
from sampan.registry.strategy import Strategy
from sampan.server.discovery.handler import Discovery
from sampan.server.discovery.order import version_key
from sampan.server.discovery.resources import storage_version_hash
from sampan.wire.protobuf import decode
from tests.server.client import Client, header

V2 = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
AGGREGATED_TYPE = f"application/json;{V2}"
ALL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def definition(
    group: str, resource: str, kind: str, versions: dict[str, VersionDefinition], **more: Any
) -> ResourceDefinition:
    fields: dict[str, Any] = {
        "singular": kind.lower(),
        "list_kind": f"{kind}List",
        "namespaced": True,
        "verbs": ALL,
        "storage_version": next(iter(versions)),
        "strategy": cast(Strategy, None),
    } | more
    return ResourceDefinition(group=group, resource=resource, kind=kind, versions=versions, **fields)


def version(name: str, **more: Any) -> VersionDefinition:
    return VersionDefinition(name, cast(Any, None), **more)


class Registry:
    def __init__(self) -> None:
        self.generation = 1
        eviction = SubresourceDefinition("eviction", GroupVersionKind("policy", "v1", "Eviction"), ("create",))
        binding = SubresourceDefinition("binding", GroupVersionKind("", "v1", "Binding"), ("create",))
        self.found = [
            definition("", "pods", "Pod", {"v1": version("v1", status=True)}, short_names=("po",), categories=("all",),
                       subresources={"eviction": eviction, "binding": binding}),
            definition("", "bindings", "Binding", {"v1": version("v1")}, verbs=("create",)),
            definition("", "events", "Event", {"v1": version("v1")}, storage_prefix="/registry/events/"),
            definition("events.k8s.io", "events", "Event", {"v1": version("v1")}, storage_prefix="/registry/events/"),
            definition("example.com", "things", "Thing", {"v1beta1": version("v1beta1"), "v1": version("v1")},
                       storage_version="v1", builtin=False),
            definition("apps", "deployments", "Deployment", {"v1": version("v1", status=True, scale=ScalePaths())}),
            definition("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
                       {"v1": version("v1"), "v2": version("v2"), "v3": version("v3", served=False)},
                       storage_version="v2"),
        ]  # fmt: skip

    def definitions(self) -> list[ResourceDefinition]:
        return self.found


@pytest.fixture
def client() -> Client:
    return Client(Discovery(Registry(), lambda: "127.0.0.1:6443").handle)


async def entry(client: Client, path: str, name: str) -> dict[str, Any]:
    document = await client.get_json(path)
    found: dict[str, Any] = next(r for r in document["resources"] if r["name"] == name)
    return found


async def test_api_names_the_versions_and_the_address(client: Client) -> None:
    document = await client.get_json("/api")
    assert document["kind"] == "APIVersions"
    assert document["versions"] == ["v1"]
    assert document["serverAddressByClientCIDRs"] == [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]


async def test_groups_are_listed_by_priority(client: Client) -> None:
    document = await client.get_json("/apis")
    assert [g["name"] for g in document["groups"]] == ["apps", "events.k8s.io", "autoscaling", "example.com"]


async def test_the_best_version_is_preferred_and_unserved_ones_are_absent(client: Client) -> None:
    group = await client.get_json("/apis/autoscaling")
    assert group["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}
    assert [v["version"] for v in group["versions"]] == ["v2", "v1"]


async def test_a_resource_is_listed_with_all_that_kubectl_needs(client: Client) -> None:
    assert await entry(client, "/api/v1", "pods") == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": list(ALL),
        "shortNames": ["po"],
        "categories": ["all"],
        "storageVersionHash": "xPOwRZ+Yhw8=",
    }


async def test_status_has_the_kind_of_its_resource(client: Client) -> None:
    assert await entry(client, "/api/v1", "pods/status") == {
        "name": "pods/status",
        "singularName": "",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["get", "patch", "update"],
    }


@pytest.mark.parametrize(
    ("path", "name", "group", "of_version", "kind"),
    [
        ("/apis/apps/v1", "deployments/scale", "autoscaling", "v1", "Scale"),
        ("/api/v1", "pods/eviction", "policy", "v1", "Eviction"),
        ("/api/v1", "pods/binding", None, None, "Binding"),
    ],
)
async def test_subresources_of_other_groups_are_reported(
    client: Client, path: str, name: str, group: str | None, of_version: str | None, kind: str
) -> None:
    found = await entry(client, path, name)
    assert (found.get("group"), found.get("version"), found["kind"]) == (group, of_version, kind)


async def test_a_resource_that_is_not_stored_has_no_hash(client: Client) -> None:
    assert "storageVersionHash" not in await entry(client, "/api/v1", "bindings")


async def test_the_hash_is_of_the_group_that_stores(client: Client) -> None:
    found = await entry(client, "/apis/events.k8s.io/v1", "events")
    assert found["storageVersionHash"] == storage_version_hash("", "v1", "Event")


async def test_only_the_resource_list_of_the_core_group_has_no_api_version(client: Client) -> None:
    assert "apiVersion" not in await client.get_json("/api/v1")
    assert (await client.get_json("/apis/apps/v1"))["apiVersion"] == "v1"


@pytest.mark.parametrize("path", ["/apis/nothing", "/apis/nothing/v1"])
async def test_an_unknown_group_is_not_found(client: Client, path: str) -> None:
    response = await client.get(path)
    assert (response.status, response.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize("path", ["/apis/apps/v9", "/api/v2"])
async def test_a_version_of_a_built_in_group_that_is_not_served_is_no_resource(client: Client, path: str) -> None:
    with pytest.raises(StatusError) as refused:
        await client.get(path)
    assert (refused.value.code, refused.value.message) == (404, "the server could not find the requested resource")


@pytest.mark.parametrize(
    ("path", "code"), [("/api", 405), ("/api/v1", 405), ("/apis/apps/v1", 405), ("/apis", 200), ("/apis/apps", 200)]
)
async def test_methods_other_than_get_have_what_kubernetes_gives_them(client: Client, path: str, code: int) -> None:
    try:
        responses = (await client.request("POST", path)).status
    except StatusError as error:
        responses = error.code
    assert responses == code


async def test_aggregated_discovery_holds_groups_versions_and_resources(client: Client) -> None:
    response = await client.get("/apis", accept=AGGREGATED_TYPE)
    assert response.content_type == AGGREGATED_TYPE
    document = orjson.loads(response.body)
    assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    apps = document["items"][0]
    assert apps["metadata"]["name"] == "apps"
    assert apps["versions"][0]["freshness"] == "Current"
    assert apps["versions"][0]["resources"][0] == {
        "resource": "deployments",
        "responseKind": {"group": "", "version": "", "kind": "Deployment"},
        "scope": "Namespaced",
        "singularResource": "deployment",
        "verbs": list(ALL),
        "subresources": [
            {
                "subresource": "scale",
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "verbs": ["get", "patch", "update"],
            },
            {
                "subresource": "status",
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


async def test_custom_resources_have_their_full_kind(client: Client) -> None:
    document = orjson.loads((await client.get("/apis", accept=AGGREGATED_TYPE)).body)
    things = document["items"][-1]["versions"][0]["resources"][0]
    assert things["responseKind"] == {"group": "example.com", "version": "v1", "kind": "Thing"}


async def test_the_core_group_is_aggregated_at_api(client: Client) -> None:
    document = orjson.loads((await client.get("/api", accept=AGGREGATED_TYPE)).body)
    assert "name" not in document["items"][0]["metadata"]
    assert [r["resource"] for r in document["items"][0]["versions"][0]["resources"]] == ["bindings", "events", "pods"]


async def test_an_unchanged_document_is_304_with_its_etag(client: Client) -> None:
    first = await client.get("/apis", accept=AGGREGATED_TYPE)
    etag = header(first, "ETag")
    assert etag is not None
    assert len(etag) == 130
    assert etag == etag.upper()
    assert header(first, "Vary") == "Accept"
    again = await client.get("/apis", accept=AGGREGATED_TYPE, if_none_match=etag)
    assert (again.status, again.body) == (304, b"")


async def test_a_change_of_the_registry_shows() -> None:
    registry = Registry()
    client = Client(Discovery(registry).handle)
    before = header(await client.get("/apis", accept=AGGREGATED_TYPE), "ETag")
    registry.found.pop()
    registry.generation += 1
    assert header(await client.get("/apis", accept=AGGREGATED_TYPE), "ETag") != before
    assert (await client.get("/apis/autoscaling")).status == 404


PROTOBUF = "application/vnd.kubernetes.protobuf"
PATHS = ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1", "/apis/example.com/v1"]


@pytest.mark.parametrize("path", PATHS)
async def test_each_document_comes_in_protobuf(client: Client, path: str) -> None:
    response = await client.get(path, accept=f"{PROTOBUF},application/json")
    assert response.content_type == PROTOBUF
    document = await client.get_json(path)
    assert without_empty(decode(response.body)) == without_empty({"apiVersion": "", **document})


@pytest.mark.parametrize("path", PATHS)
async def test_each_document_comes_in_yaml(client: Client, path: str) -> None:
    response = await client.get(path, accept="application/yaml")
    assert response.content_type == "application/yaml"
    assert yaml.safe_load(response.body) == await client.get_json(path)


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_aggregated_documents_come_in_protobuf_with_the_same_etag(client: Client, path: str) -> None:
    in_json = await client.get(path, accept=AGGREGATED_TYPE)
    response = await client.get(path, accept=f"{PROTOBUF};{V2},{AGGREGATED_TYPE}")
    assert response.content_type == f"{PROTOBUF};{V2}"
    assert header(response, "ETag") == header(in_json, "ETag")
    assert without_empty(decode(response.body)) == without_empty(orjson.loads(in_json.body))


async def test_aggregated_documents_come_in_yaml(client: Client) -> None:
    response = await client.get("/apis", accept=f"application/yaml;{V2}")
    assert response.content_type == f"application/yaml;{V2}"
    assert yaml.safe_load(response.body)["kind"] == "APIGroupDiscoveryList"


async def test_the_profile_that_was_requested_is_named(client: Client) -> None:
    response = await client.get("/apis", accept=f"{AGGREGATED_TYPE};profile=nopeer")
    assert response.content_type == f"{AGGREGATED_TYPE};profile=nopeer"


async def test_people_get_indented_documents(client: Client) -> None:
    body = (await client.get("/apis/apps/v1", user_agent="curl/8")).body
    assert body.startswith(b'{\n  "kind": "APIResourceList"')
    assert (await client.get("/apis/apps/v1?pretty=true")).body == body
    assert (await client.get("/apis/apps/v1", accept="application/json;pretty=1")).body == body


@pytest.mark.parametrize("path", ["/apis", "/apis/apps/v1"])
async def test_an_unsupported_media_type_is_not_acceptable(client: Client, path: str) -> None:
    with pytest.raises(StatusError) as caught:
        await client.get(path, accept="text/html")
    assert caught.value.code == 406


async def test_groups_and_versions_are_never_aggregated(client: Client) -> None:
    with pytest.raises(StatusError):
        await client.get("/apis/apps", accept=AGGREGATED_TYPE)
    document = orjson.loads((await client.get("/apis/apps", accept=f"{AGGREGATED_TYPE},application/json")).body)
    assert document["kind"] == "APIGroup"


def without_empty(value: Any) -> Any:
    """A document without what is empty: the zero values that one form writes and another leaves out."""
    if isinstance(value, dict):
        retained = {name: without_empty(item) for name, item in value.items()}
        return {name: item for name, item in retained.items() if item not in (None, "", [], {})}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def test_versions_are_ordered_as_kubernetes_orders_them() -> None:
    ordered = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert sorted(sorted(ordered), key=version_key) == ordered
