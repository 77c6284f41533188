"""Several versions of a custom resource (F26, F29, F30, F39)."""

from typing import Any

import orjson
import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, change, crd, eventually, schema, shirt, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

SHIRTS_2 = SHIRTS.replace("/v1/", "/v2/")
STRING = {"type": "string"}


async def two(api: Api, first: Any = None, second: Any = None, **more: Any) -> None:
    """A CRD with v1 (stored) and v2."""
    await api.create(CRDS, crd(version("v1", first), version("v2", second, storage=False, **more)))


def store_v2(obj: Any) -> None:
    """Make v2 the storage version."""
    obj["spec"]["versions"][0]["storage"] = False
    obj["spec"]["versions"][1]["storage"] = True


async def raw(api: Api, name: str) -> Any:
    """Return the stored object."""
    row = await api.cluster.store.get(f"/registry/{GROUP}/shirts/default/{name}")
    assert row is not None
    return orjson.loads(row.value)


async def test_conversion_none_changes_the_api_version_alone(api: Api) -> None:
    await two(api)
    created = await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    read = (await api.get(f"{SHIRTS_2}/a")).body
    assert read == {**created, "apiVersion": f"{GROUP}/v2"}
    listed = (await api.get(SHIRTS_2)).body
    assert (listed["apiVersion"], listed["items"]) == (f"{GROUP}/v2", [read])
    async with api.watch(f"{SHIRTS_2}?watch=1") as watch:
        assert (await watch.event())["object"] == read


async def test_a_version_shows_only_what_its_schema_has(api: Api) -> None:
    await two(api, schema({"a": STRING, "b": STRING}), schema({"a": STRING, "c": {"type": "string", "default": "x"}}))
    await api.create(SHIRTS, shirt("a", {"a": "1", "b": "2"}))
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"a": "1"}
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"a": "1", "b": "2"}


async def test_objects_are_stored_in_the_storage_version(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS_2, shirt("a", api="v2"))
    assert (await raw(api, "a"))["apiVersion"] == f"{GROUP}/v1"


async def test_objects_of_mixed_stored_versions_are_listed_in_one(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a"))
    await change(api, store_v2)
    await api.create(SHIRTS, shirt("b"))
    assert [(await raw(api, name))["apiVersion"] for name in "ab"] == [f"{GROUP}/v1", f"{GROUP}/v2"]
    for path, name in ((SHIRTS, "v1"), (SHIRTS_2, "v2")):
        items = (await api.get(path)).body["items"]
        assert {item["apiVersion"] for item in items} == {f"{GROUP}/{name}"}


@pytest.mark.parametrize("path", [SHIRTS, SHIRTS_2], ids=["old version", "new version"])
async def test_a_write_without_a_change_migrates_the_stored_object(api: Api, path: str) -> None:
    await two(api)
    created = await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    await change(api, store_v2)
    obj = (await api.get(f"{path}/a")).body
    written = (await api.put(f"{path}/a", obj)).body
    assert written["metadata"]["resourceVersion"] != created["metadata"]["resourceVersion"]
    assert (await raw(api, "a"))["apiVersion"] == f"{GROUP}/v2"
    again = (await api.put(f"{path}/a", written)).body
    assert again["metadata"]["resourceVersion"] == written["metadata"]["resourceVersion"]


async def test_a_write_without_a_change_writes_nothing_when_only_the_crd_has_changed(api: Api) -> None:
    await two(api)
    created = await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    await change(api, lambda obj: obj["spec"]["versions"][1].update(deprecated=True))
    written = await api.put(f"{SHIRTS}/a", created)
    assert written.metadata["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_managers_of_all_versions_own_their_fields(api: Api) -> None:
    await two(api)
    await api.apply(f"{SHIRTS}/a", shirt("a", {"color": "blue"}), "fieldManager=one")
    await api.apply(f"{SHIRTS_2}/a", shirt("a", {"size": 3}, api="v2"), "fieldManager=two")
    conflict = await api.apply(f"{SHIRTS_2}/a", shirt("a", {"color": "red"}, api="v2"), "fieldManager=two")
    assert (conflict.code, conflict.causes[0]["field"]) == (409, ".spec.color")
    entries = (await api.get(f"{SHIRTS}/a")).metadata["managedFields"]
    assert [(entry["manager"], entry["apiVersion"]) for entry in entries] == [
        ("one", f"{GROUP}/v1"),
        ("two", f"{GROUP}/v2"),
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({}, [], id="not deprecated"),
        pytest.param(
            {"deprecated": True}, [f"{GROUP}/v1alpha1 Shirt is deprecated; use {GROUP}/v1 Shirt"], id="default"
        ),
        pytest.param({"deprecated": True, "deprecationWarning": "wear v1"}, ["wear v1"], id="own text"),
    ],
)
async def test_deprecated_versions_warn(api: Api, more: Any, expected: list[str]) -> None:
    await api.create(CRDS, crd(version("v1"), version("v1alpha1", storage=False, **more)))
    assert (await api.get(SHIRTS.replace("/v1/", "/v1alpha1/"))).warnings == expected
    assert (await api.get(SHIRTS)).warnings == []


async def test_versions_are_listed_by_their_priority(api: Api) -> None:
    names = ["v1alpha1", "v10", "v2beta1", "v2", "v1"]
    await api.create(CRDS, crd(*(version(name, storage=name == "v1") for name in names)))
    group = (await api.get(f"/apis/{GROUP}")).body
    assert [one["version"] for one in group["versions"]] == ["v10", "v2", "v1", "v2beta1", "v1alpha1"]
    assert group["preferredVersion"]["version"] == "v10"


async def test_no_version_is_made_up_where_a_webhook_should_convert(api: Api) -> None:
    webhook = {"clientConfig": {"url": "https://127.0.0.1:1"}, "conversionReviewVersions": ["v1"]}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False), conversion=conversion))
    await api.create(SHIRTS, shirt("a"))
    assert (await api.get(f"{SHIRTS}/a")).code == 200
    response = await api.get(f"{SHIRTS_2}/a")
    assert (response.code, response.reason) == (500, "")
    assert f"conversion webhook for {GROUP}/v1, Kind=Shirt failed" in response.message


def _with_default(name: str, value: str) -> Any:
    texts: dict[str, Any] = {key: {"type": "string"} for key in ("a", "b", "c")}
    texts[name]["default"] = value
    return schema(texts)


async def test_a_read_has_the_defaults_of_the_stored_version_only(api: Api) -> None:
    await two(api, _with_default("b", "stored"), _with_default("c", "other"))
    await api.create(SHIRTS, shirt("x", {"a": "1"}))
    found = (await api.get(f"{SHIRTS_2}/x")).body
    assert (found["apiVersion"], found["spec"]) == (f"{GROUP}/v2", {"a": "1", "b": "stored"})
    items = (await api.get(SHIRTS_2)).body["items"]
    assert [item["spec"] for item in items] == [{"a": "1", "b": "stored"}]


async def test_a_write_has_the_defaults_of_its_version_and_then_of_the_stored_one(api: Api) -> None:
    await two(api, _with_default("b", "stored"), _with_default("c", "other"))
    created = await api.create(SHIRTS_2, shirt("x", {"a": "1"}, api="v2"))
    assert created["spec"] == {"a": "1", "b": "stored", "c": "other"}
    patched = (await api.patch(f"{SHIRTS_2}/x", {"spec": {"c": None}})).body
    assert patched["spec"] == {"a": "1", "b": "stored", "c": "other"}
    assert (await api.patch(f"{SHIRTS}/x", {"spec": {"c": None}})).body["spec"] == {"a": "1", "b": "stored"}


async def test_an_older_row_has_the_defaults_of_the_version_that_it_was_stored_in(api: Api) -> None:
    await two(api, _with_default("b", "first"), schema({key: {"type": "string"} for key in ("a", "b", "c")}))
    await api.create(SHIRTS, shirt("x", {"a": "1"}))
    changed = await change(api, lambda obj: _move_storage(obj, _with_default("c", "first")))
    assert changed.code == 200, changed.body
    found = await eventually(lambda: api.get(f"{SHIRTS}/x"), lambda response: response.body["spec"].get("c") == "first")
    assert found.body["spec"] == {"a": "1", "b": "first", "c": "first"}
    found = await api.get(f"{SHIRTS_2}/x")
    assert found.body["spec"] == {"a": "1", "b": "first", "c": "first"}


def _move_storage(obj: Any, first: Any) -> None:
    obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = first
    store_v2(obj)
