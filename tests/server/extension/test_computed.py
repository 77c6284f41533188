"""Computed resources: what clients get of them."""

from typing import Any

import orjson
import pytest

from sampan.wire import yaml
from tests.server.client import status_of
from tests.server.extension.extension import BOATS, PATH, client
from tests.server.frame import JANE

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"
IN_A = f"{PATH}/namespaces/a/boats"


async def got(target: str, **headers: str) -> Any:
    """The document at a path."""
    response = await client().get(target, **headers)
    assert response.status == 200, response.body
    return orjson.loads(response.body)


def names(document: Any) -> list[str]:
    """The names of a list's items."""
    return [item["metadata"]["name"] for item in document["items"]]


async def test_an_object_has_its_kind() -> None:
    assert await got(f"{IN_A}/junk") == {"kind": "Boat", "apiVersion": "boats.example.com/v1", **BOATS[0]}


async def test_a_list_holds_whole_objects() -> None:
    found = await got(f"{PATH}/boats")
    assert (found["kind"], found["apiVersion"]) == ("BoatList", "boats.example.com/v1")
    assert found["items"][2] == {"kind": "Boat", "apiVersion": "boats.example.com/v1", **BOATS[2]}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (f"{PATH}/boats", ["junk", "sampan", "raft"]),
        (IN_A, ["junk", "sampan"]),
        (f"{IN_A}?labelSelector=sails%3D2", ["junk"]),
        (f"{IN_A}?labelSelector=!sails", ["sampan"]),
        (f"{PATH}/boats?fieldSelector=metadata.name%3Draft", ["raft"]),
        (f"{PATH}/boats?fieldSelector=metadata.namespace!%3Da", ["raft"]),
        (f"{PATH}/harbours", ["aberdeen"]),
    ],
)
async def test_a_list_is_of_a_namespace_and_of_what_selectors_take(target: str, expected: list[str]) -> None:
    assert names(await got(target)) == expected


async def test_a_table_has_the_columns_of_the_resource() -> None:
    found = await got(IN_A, accept=TABLE)
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Length"]
    assert [row["cells"] for row in found["rows"]] == [["junk", 4], ["sampan", 6]]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    one = await got(f"{IN_A}/junk?includeObject=Object", accept=TABLE)
    assert one["rows"][0]["object"]["length"] == 4


async def test_metadata_alone_is_given_too() -> None:
    found = await got(IN_A, accept=PARTIAL.format("List"))
    assert found["kind"] == "PartialObjectMetadataList"
    assert "length" not in found["items"][0]
    assert (await got(f"{IN_A}/junk", accept=PARTIAL.format("")))["metadata"] == BOATS[0]["metadata"]


async def test_yaml_is_given_too() -> None:
    response = await client().get(f"{IN_A}/junk", accept="application/yaml")
    assert response.content_type == "application/yaml"
    assert yaml.decode(response.body)["length"] == 4


@pytest.mark.parametrize(
    ("method", "target", "code"),
    [
        ("GET", f"{IN_A}/none", 404),
        ("GET", f"{PATH}/namespaces/b/boats/junk", 404),
        ("GET", f"{PATH}/boats/junk", 404),
        ("GET", f"{PATH}/namespaces/a/harbours", 404),
        ("GET", f"{PATH}/ships", 404),
        ("GET", f"{IN_A}/junk/status", 404),
        ("GET", "/apis/boats.example.com/v2/boats", 404),
        ("GET", "/apis/other.example.com/v1/boats", 404),
        ("GET", f"{IN_A}?labelSelector=,,", 400),
        ("GET", f"{IN_A}?watch=1", 405),
        ("POST", IN_A, 405),
        ("DELETE", f"{IN_A}/junk", 405),
        ("PATCH", f"{IN_A}/junk", 405),
    ],
)
async def test_missing_objects_and_unsupported_verbs_are_refused(method: str, target: str, code: int) -> None:
    assert (await client().request(method, target)).status == code


async def test_a_client_that_may_not_is_refused() -> None:
    status = status_of(await client(JANE).get(IN_A))
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert (await client({}).get(IN_A)).status == 401


async def test_discovery_reports_of_the_resources() -> None:
    (group,) = (await got("/apis"))["groups"]
    assert group["preferredVersion"]["groupVersion"] == "boats.example.com/v1"
    resources = (await got(PATH))["resources"]
    assert [(each["name"], each["kind"], each["verbs"]) for each in resources] == [
        ("boats", "Boat", ["get", "list"]),
        ("harbours", "Harbour", ["get", "list"]),
    ]


async def test_openapi_describes_them() -> None:
    document = await got("/openapi/v3/apis/boats.example.com/v1")
    kind = document["components"]["schemas"]["com.example.boats.v1.Boat"]
    assert kind["properties"]["length"]["description"] == "In metres."
    assert set(document["paths"][f"{PATH}/boats"]) == {"get", "parameters"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/livez", "/version", "/metrics", "/"])
async def test_the_paths_of_every_server_are_there(path: str) -> None:
    assert (await client().get(path)).status == 200
