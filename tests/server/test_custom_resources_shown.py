"""Custom resources in tables, selectors, discovery and OpenAPI (F24, F25, F31, F40)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import CRD, CRDS, GROUP, SHIRTS, change, crd, define, schema, shirt, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

STRING = {"type": "string"}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
COLUMNS = [
    {"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "what it looks like"},
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
    {"name": "Price", "type": "number", "jsonPath": ".spec.price"},
    {"name": "Sold", "type": "boolean", "jsonPath": ".spec.sold"},
    {"name": "Made", "type": "date", "jsonPath": ".spec.made"},
    {"name": "Tags", "type": "string", "jsonPath": ".spec.tags[*]"},
    {"name": "All", "type": "string", "jsonPath": ".spec.tags"},
]
ANY = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}


async def cells(api: Api, spec: Any) -> list[Any]:
    """The cells of a shirt, its name apart."""
    await define(api, ANY, additionalPrinterColumns=COLUMNS)
    await api.create(SHIRTS, shirt("a", spec))
    table = (await api.get(SHIRTS, accept=TABLE)).body
    row: list[Any] = table["rows"][0]["cells"]
    assert row[0] == "a"
    return row[1:]


async def test_columns_show_values_of_their_type(api: Api) -> None:
    spec = {
        "color": "blue",
        "size": 3,
        "price": 1.5,
        "sold": True,
        "made": "2020-01-01T00:00:00Z",
        "tags": ["x", "y"],
    }
    row = await cells(api, spec)
    assert row[:4] == ["blue", 3, 1.5, True]
    assert row[4].endswith("y") or row[4].endswith("d")
    assert row[5:] == ["x", '["x","y"]']


async def test_missing_values_are_empty(api: Api) -> None:
    assert await cells(api, {}) == [None] * 7


async def test_values_of_another_type_are_empty_and_dates_that_are_none_invalid(api: Api) -> None:
    spec = {"color": 1, "size": "x", "price": "x", "sold": "x", "made": "x"}
    assert (await cells(api, spec))[:5] == ["1", None, None, None, "<invalid>"]


async def test_column_definitions(api: Api) -> None:
    await define(api, ANY, additionalPrinterColumns=COLUMNS)
    columns = (await api.get(SHIRTS, accept=TABLE)).body["columnDefinitions"]
    assert [(one["name"], one["type"], one["format"], one["priority"]) for one in columns[:3]] == [
        ("Name", "string", "name", 0),
        ("Color", "string", "", 0),
        ("Size", "integer", "", 1),
    ]
    assert columns[1]["description"] == "what it looks like"
    assert columns[2]["description"] == "Custom resource definition column (in JSONPath format): .spec.size"


async def test_without_columns_name_and_age_are_shown(api: Api) -> None:
    await define(api)
    await api.create(SHIRTS, shirt("a"))
    table = (await api.get(SHIRTS, accept=TABLE)).body
    assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "Age"]
    name, age = table["rows"][0]["cells"]
    assert (name, age in ("0s", "1s", "2s")) == ("a", True)


async def test_new_columns_are_shown_at_once(api: Api) -> None:
    await define(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    await api.get(SHIRTS, accept=TABLE)
    await change(api, lambda obj: obj["spec"]["versions"][0].update(additionalPrinterColumns=COLUMNS[:1]))
    assert (await api.get(SHIRTS, accept=TABLE)).body["rows"][0]["cells"] == ["a", "blue"]


async def test_a_column_whose_path_cannot_be_read_ends_the_columns(api: Api) -> None:
    broken = {"name": "Broken", "type": "string", "jsonPath": ".["}
    await define(api, ANY, additionalPrinterColumns=[COLUMNS[0], broken, COLUMNS[1]])
    await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    assert (await api.get(SHIRTS, accept=TABLE)).body["rows"][0]["cells"] == ["a", "blue"]


SELECTABLE = schema({"color": STRING, "size": {"type": "integer"}, "sold": {"type": "boolean"}})
FIELDS = [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec.sold"}]


async def shirts(api: Api, path: str = SHIRTS) -> None:
    """Three shirts of which the fields may be selected."""
    await define(api, SELECTABLE, selectableFields=FIELDS)
    await api.create(path, shirt("a", {"color": "blue", "size": 1, "sold": True}))
    await api.create(path, shirt("b", {"color": "red", "size": 2}))
    await api.create(path, shirt("c", {"color": "blue", "size": 2}))


async def selected(api: Api, selector: str) -> list[str]:
    """The names that a selector finds."""
    response = await api.get(f"{SHIRTS}?fieldSelector={selector}")
    assert response.code == 200, response.body
    return [item["metadata"]["name"] for item in response.body["items"]]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("spec.color%3Dblue", ["a", "c"]),
        ("spec.color!%3Dblue", ["b"]),
        ("spec.size%3D2,spec.color%3Dblue", ["c"]),
        ("spec.sold%3Dtrue", ["a"]),
        ("spec.sold%3D", ["b", "c"]),
    ],
)
async def test_declared_fields_select(api: Api, selector: str, names: list[str]) -> None:
    await shirts(api)
    assert await selected(api, selector) == names


async def test_other_fields_do_not_select(api: Api) -> None:
    await shirts(api)
    response = await api.get(f"{SHIRTS}?fieldSelector=spec.other%3Dx")
    assert (response.code, response.message) == (400, "field label not supported: spec.other")


async def test_selected_watches_and_deletions(api: Api) -> None:
    await shirts(api)
    async with api.watch(f"{SHIRTS}?watch=1&fieldSelector=spec.color%3Dblue") as watch:
        assert sorted(await watch.events(2)) == [("ADDED", "a"), ("ADDED", "c")]
        await api.patch(f"{SHIRTS}/a", {"spec": {"color": "red"}})
        await api.patch(f"{SHIRTS}/b", {"spec": {"color": "blue"}})
        assert await watch.events(2) == [("DELETED", "a"), ("ADDED", "b")]
    await api.delete(f"{SHIRTS}?fieldSelector=spec.color%3Dblue")
    assert await selected(api, "") == ["a"]


async def test_new_selectable_fields_select_old_objects_and_removed_ones_are_refused(api: Api) -> None:
    await define(api, SELECTABLE, selectableFields=FIELDS[:1])
    await api.create(SHIRTS, shirt("a", {"color": "blue", "size": 1}))
    await change(api, lambda obj: obj["spec"]["versions"][0].update(selectableFields=FIELDS[1:]))
    assert await selected(api, "spec.size%3D1") == ["a"]
    assert (await api.get(f"{SHIRTS}?fieldSelector=spec.color%3Dblue")).code == 400


async def test_each_version_has_separate_selectable_fields(api: Api) -> None:
    first = version("v1", SELECTABLE, selectableFields=FIELDS[:1])
    await api.create(CRDS, crd(first, version("v2", SELECTABLE, storage=False, selectableFields=FIELDS[1:2])))
    await api.create(SHIRTS, shirt("a", {"color": "blue", "size": 1}))
    second = SHIRTS.replace("/v1/", "/v2/")
    assert len((await api.get(f"{second}?fieldSelector=spec.size%3D1")).body["items"]) == 1
    assert len((await api.get(f"{second}?fieldSelector=spec.size%3D2")).body["items"]) == 0
    assert (await api.get(f"{second}?fieldSelector=spec.color%3Dblue")).code == 400


async def test_names_are_discovered(api: Api) -> None:
    names = {"shortNames": ["sh"], "categories": ["all", "clothes"], "singular": "chemise"}
    subresources: Any = {"status": {}}
    await api.create(CRDS, crd(version("v1", subresources=subresources), names=names))
    found = (await api.get(f"/apis/{GROUP}/v1")).body["resources"]
    assert [one["name"] for one in found] == ["shirts", "shirts/status"]
    main = found[0]
    assert (main["singularName"], main["shortNames"], main["categories"], main["namespaced"], main["kind"]) == (
        "chemise",
        ["sh"],
        ["all", "clothes"],
        True,
        "Shirt",
    )
    assert set(main["verbs"]) == {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
    assert (await api.get(CRD)).body["status"]["acceptedNames"] == {
        "plural": "shirts",
        "singular": "chemise",
        "kind": "Shirt",
        "listKind": "ShirtList",
        "shortNames": ["sh"],
        "categories": ["all", "clothes"],
    }


async def test_discovery_forgets_what_has_gone(api: Api) -> None:
    await define(api)
    await change(api, lambda obj: obj["spec"]["names"].update(shortNames=["sh"]))
    assert (await api.get(f"/apis/{GROUP}/v1")).body["resources"][0]["shortNames"] == ["sh"]
    await change(api, lambda obj: obj["spec"]["names"].pop("shortNames"))
    assert "shortNames" not in (await api.get(f"/apis/{GROUP}/v1")).body["resources"][0]


DOCUMENTED: Any = {
    "type": "object",
    "description": "what one wears",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["color", "maybe"],
            "properties": {
                "color": {
                    "type": "string",
                    "title": "Color",
                    "example": "blue",
                    "default": "red",
                    "oneOf": [{"minLength": 1}],
                    "externalDocs": {"url": "https://example.com"},
                },
                "maybe": {"type": "string", "nullable": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": STRING}},
                "port": {"x-kubernetes-int-or-string": True},
                "list": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": STRING,
                    "x-kubernetes-validations": [{"rule": "size(self) < 5"}],
                },
            },
        }
    },
}
KIND = "com.example.stable.v1.Shirt"


async def test_v3_publishes_the_schema_as_it_was_declared(api: Api) -> None:
    await define(api, DOCUMENTED, selectableFields=FIELDS[:1])
    document = (await api.get(f"/openapi/v3/apis/{GROUP}/v1")).body
    kind = document["components"]["schemas"][KIND]
    declared = (await api.get(CRD)).body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert kind["properties"]["spec"] == declared["properties"]["spec"]
    assert kind["description"] == "what one wears"
    assert kind["x-kubernetes-group-version-kind"] == [{"group": GROUP, "version": "v1", "kind": "Shirt"}]
    assert kind["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.color"}]
    assert kind["properties"]["metadata"]["allOf"][0]["$ref"].endswith("meta.v1.ObjectMeta")
    assert f"{KIND}List" in document["components"]["schemas"]


async def test_the_type_of_a_custom_resource_is_described_as_that_of_a_built_in_kind(api: Api) -> None:
    await define(api)
    custom = (await api.get(f"/openapi/v3/apis/{GROUP}/v1")).body["components"]["schemas"][KIND]["properties"]
    schemas = (await api.get("/openapi/v3/api/v1")).body["components"]["schemas"]
    builtin = schemas["io.k8s.api.core.v1.ConfigMap"]["properties"]
    for name in ("apiVersion", "kind"):
        assert custom[name] == {"type": "string", "description": builtin[name]["description"]}


async def test_v2_publishes_what_it_can_state(api: Api) -> None:
    await define(api, DOCUMENTED)
    spec = (await api.get("/openapi/v2")).body["definitions"][KIND]["properties"]["spec"]
    assert spec["required"] == ["color"]
    assert spec["properties"] == {
        "color": {"type": "string", "title": "Color", "default": "red"},
        "maybe": {},
        "free": {"x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
        "list": {
            "type": "array",
            "x-kubernetes-list-type": "set",
            "items": STRING,
            "x-kubernetes-validations": [{"rule": "size(self) < 5"}],
        },
    }


async def test_a_kind_that_keeps_unknown_fields_is_any_object_in_v2(api: Api) -> None:
    await define(api, {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"spec": ANY}})
    kind = (await api.get("/openapi/v2")).body["definitions"][KIND]
    assert (kind["type"], "properties" in kind) == ("object", False)


async def test_openapi_follows_the_schema(api: Api) -> None:
    await define(api)

    async def url() -> str:
        index = (await api.get("/openapi/v3")).body["paths"]
        return str(index[f"apis/{GROUP}/v1"]["serverRelativeURL"])

    before = await url()
    await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", DOCUMENTED)))
    after = await url()
    assert before != after
    schemas = (await api.get(after)).body["components"]["schemas"]
    assert schemas[KIND]["description"] == "what one wears"


async def test_lists_always_have_a_continue_token_that_may_be_empty(api: Api) -> None:
    await api.create(CRDS, crd())
    assert (await api.get(SHIRTS)).body["metadata"]["continue"] == ""
    assert "continue" not in (await api.get(SHIRTS, accept=TABLE)).body["metadata"]
