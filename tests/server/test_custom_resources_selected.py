"""Field selectors on selectable fields of a version that is not stored, whatever converts the versions.

Each way of conversion serves shirts with `.spec.color` in v1, which is stored, and what that is in v2.
"""

from typing import Any
from urllib.parse import quote

import pytest

from sampan.core import errors
from tests.server.cluster import Api
from tests.server.conversion_webhook import SHIRTS_2, V2, FakeWebhook, Json, defined
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, change, crd, schema, shirt, version
from tests.server.test_hub_conversion import HUBS, STRING, hub
from tests.server.verbs.conftest import api
from tests.server.verbs.objects import TABLE

__all__ = ["api"]

HOST_PORT, HOST = [{"jsonPath": ".spec.hostPort"}], [{"jsonPath": ".spec.host"}]


def with_fields(body: Json) -> Json:
    """The CRD with a selectable field in each version."""
    for each, fields in zip(body["spec"]["versions"], (HOST_PORT, HOST), strict=True):
        each["selectableFields"] = fields
    return body


async def by_webhook(api: Api) -> FakeWebhook:
    """A webhook cuts `hostPort` into `host` and `port`."""
    fake = FakeWebhook()
    api.connections.connect = fake.connect
    await api.create(CRDS, with_fields(defined()))
    return fake


async def by_rules(api: Api) -> None:
    """Declared rules do the same with a fixed port."""
    first = version("v1", schema({"hostPort": {"type": "string", "enum": ["a:80", "b:80"]}}))
    second = version("v2", schema({"host": {"type": "string", "enum": ["a", "b"]}}), storage=False)
    await api.create(CRDS, with_fields(crd(first, second)))
    rule = {"hub": ".spec.hostPort", "field": ".spec.host"}
    rule |= {"toHub": "self + ':80'", "fromHub": "self.replace(':80', '')"}
    await api.create(HUBS, hub(rule))


async def by_default(api: Api) -> None:
    """Without conversion v2 shows the default of v1, which is stored; `hostPort` is only in v1."""
    first = version("v1", schema({"host": {"type": "string", "default": "a"}, "hostPort": STRING}))
    second = version("v2", schema({"host": STRING}), storage=False)
    await api.create(CRDS, with_fields(crd(first, second)))


def one(name: str, host: str) -> Json:
    """A shirt of v1 that has this host in v2, by each of the conversions."""
    spec = {"hostPort": f"{host}:80"}
    return shirt(name, spec if host == "a" else {**spec, "host": host})


CONVERSIONS = {"webhook": by_webhook, "rules": by_rules, "none": by_default}


@pytest.fixture(params=CONVERSIONS)
async def shirts(api: Api, request: pytest.FixtureRequest) -> Api:
    """Shirts a, b, c, d in v1 with the hosts a, b, a, b."""
    await CONVERSIONS[request.param](api)
    for name, host in zip("abcd", "abab", strict=True):
        await api.create(SHIRTS, one(name, host))
    return api


def selecting(selector: str, query: str = "") -> str:
    """The path of the shirts of v2 that are selected."""
    return f"{SHIRTS_2}?fieldSelector={quote(selector)}{query}"


async def names(api: Api, path: str) -> list[str]:
    """The names of a list."""
    response = await api.get(path)
    assert response.code == 200, response.body
    return [item["metadata"]["name"] for item in response.body["items"]]


SELECTED = [
    ("spec.host=a", "ac"),
    ("spec.host!=a", "bd"),
    ("spec.host==b", "bd"),
    ("spec.host=", ""),
    ("spec.host!=", "abcd"),
    ("spec.host=a,spec.host!=b", "ac"),
    ("spec.host=a,metadata.name=c", "c"),
    ("spec.host=a,metadata.name!=c", "a"),
    ("metadata.name=b,spec.host=a", ""),
    ("spec.host=b,metadata.namespace=default", "bd"),
]


@pytest.mark.parametrize(("selector", "expected"), SELECTED)
async def test_a_list_selects_by_the_fields_of_its_version(shirts: Api, selector: str, expected: str) -> None:
    assert await names(shirts, selecting(selector)) == list(expected)
    assert await names(shirts, selecting(selector, "&resourceVersion=0")) == list(expected)
    everywhere = selecting(selector).replace("/namespaces/default", "")
    assert await names(shirts, everywhere) == list(expected)


@pytest.mark.parametrize(("selector", "expected"), SELECTED)
async def test_a_deletion_of_a_collection_deletes_what_is_selected(shirts: Api, selector: str, expected: str) -> None:
    response = await shirts.delete(selecting(selector))
    assert [item["metadata"]["name"] for item in response.body["items"]] == list(expected)
    assert await names(shirts, SHIRTS) == [name for name in "abcd" if name not in expected]


async def test_a_deletion_in_a_dry_run_deletes_nothing(shirts: Api) -> None:
    await shirts.delete(selecting("spec.host=a", "&dryRun=All"))
    assert await names(shirts, SHIRTS) == list("abcd")


async def test_a_deletion_of_a_page_deletes_the_page(shirts: Api) -> None:
    await shirts.delete(selecting("spec.host=b", "&limit=1"))
    assert await names(shirts, SHIRTS) == list("acd")


async def test_the_fields_of_the_stored_version_select_there_alone(shirts: Api) -> None:
    assert await names(shirts, f"{SHIRTS}?fieldSelector=spec.hostPort%3Da:80") == ["a", "c"]
    for path in (f"{SHIRTS}?fieldSelector=spec.host%3Da", selecting("spec.hostPort=a:80")):
        response = await shirts.get(path)
        assert (response.code, response.reason) == (400, "BadRequest")


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_have_all_that_is_selected(shirts: Api, limit: int) -> None:
    for index in range(20):
        await shirts.create(SHIRTS, one(f"e{index:02}", "a" if index % 5 else "b"))
    expected = await names(shirts, selecting("spec.host=b"))
    assert len(expected) == 6
    found: list[str] = []
    query = ""
    while True:
        response = await shirts.get(selecting("spec.host=b", f"&limit={limit}{query}"))
        assert len(response.body["items"]) <= limit
        found += [item["metadata"]["name"] for item in response.body["items"]]
        if not response.metadata.get("continue"):
            break
        query = f"&continue={quote(response.metadata['continue'])}"
        await shirts.create(SHIRTS, one(f"f{len(found)}", "b"))
    assert found == expected


async def test_a_list_of_an_old_revision_selects_by_the_state_then(shirts: Api) -> None:
    revision = (await shirts.get(SHIRTS_2)).metadata["resourceVersion"]
    await shirts.patch(f"{SHIRTS}/a", {"spec": {"host": "b", "hostPort": "b:80"}})
    await shirts.delete(f"{SHIRTS}/c")
    exact = f"&resourceVersion={revision}&resourceVersionMatch=Exact"
    assert await names(shirts, selecting("spec.host=a", exact)) == ["a", "c"]
    assert await names(shirts, selecting("spec.host=a", f"{exact}&limit=1")) == ["a"]
    newer = f"&resourceVersion={revision}&resourceVersionMatch=NotOlderThan"
    assert await names(shirts, selecting("spec.host=b", newer)) == ["a", "b", "d"]


async def test_the_fields_and_labels_select_together(shirts: Api) -> None:
    await shirts.patch(f"{SHIRTS}/a", {"metadata": {"labels": {"x": "y"}}})
    assert await names(shirts, selecting("spec.host=a", "&labelSelector=x%3Dy")) == ["a"]
    assert await names(shirts, selecting("spec.host=a", "&labelSelector=!x")) == ["c"]


async def test_a_table_has_the_rows_that_are_selected(shirts: Api) -> None:
    response = await shirts.get(selecting("spec.host=a"), accept=TABLE)
    assert [row["cells"][0] for row in response.body["rows"]] == ["a", "c"]


INITIAL = {
    "at once": "",
    "any state": "&resourceVersion=0",
    "as a list": "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
}


@pytest.mark.parametrize("query", INITIAL.values(), ids=INITIAL)
async def test_a_watch_shows_what_is_selected_and_no_longer_selected(shirts: Api, query: str) -> None:
    async with shirts.watch(selecting("spec.host=a", f"&watch=1{query}")) as watch:
        assert sorted(await watch.events(2)) == [("ADDED", "a"), ("ADDED", "c")]
        if "sendInitialEvents" in query:
            assert (await watch.event())["type"] == "BOOKMARK"
        await check_changes(shirts, watch)


async def check_changes(api: Api, watch: Any) -> None:
    """A watch of the host a shows each change that concerns it, in v2."""
    await api.create(SHIRTS, one("e", "b"))
    await api.patch(f"{SHIRTS}/e", {"metadata": {"labels": {"seen": "no"}}})
    await api.patch(f"{SHIRTS}/a", {"spec": {"host": "b", "hostPort": "b:80"}})
    await api.patch(f"{SHIRTS}/b", {"spec": {"host": None, "hostPort": "a:80"}})
    await api.patch(f"{SHIRTS}/c", {"metadata": {"labels": {"x": "y"}}})
    await api.delete(f"{SHIRTS}/d")
    await api.delete(f"{SHIRTS}/c")
    await api.create(SHIRTS, one("f", "a"))
    found = [await watch.event() for _ in range(5)]
    observed = [(event["type"], event["object"]["metadata"]["name"]) for event in found]
    assert observed == [("DELETED", "a"), ("ADDED", "b"), ("MODIFIED", "c"), ("DELETED", "c"), ("ADDED", "f")]
    assert {event["object"]["apiVersion"] for event in found} == {V2}
    assert {event["object"]["spec"]["host"] for event in found} == {"a"}
    revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in found]
    assert revisions == sorted(set(revisions))


async def test_a_watch_from_a_revision_shows_the_changes_since_then(shirts: Api) -> None:
    revision = (await shirts.get(SHIRTS_2)).metadata["resourceVersion"]
    async with shirts.watch(selecting("spec.host=a", f"&watch=1&resourceVersion={revision}")) as watch:
        await check_changes(shirts, watch)
    async with shirts.watch(selecting("spec.host=a", f"&watch=1&resourceVersion={revision}")) as watch:
        found = [await watch.event() for _ in range(5)]
        assert [event["type"] for event in found] == ["DELETED", "ADDED", "MODIFIED", "DELETED", "ADDED"]


async def test_a_watch_of_labels_and_fields_shows_what_leaves_either(shirts: Api) -> None:
    for name in "abcd":
        await shirts.patch(f"{SHIRTS}/{name}", {"metadata": {"labels": {"x": "y"}}})
    async with shirts.watch(selecting("spec.host=a", "&watch=1&labelSelector=x%3Dy")) as watch:
        assert sorted(await watch.events(2)) == [("ADDED", "a"), ("ADDED", "c")]
        await shirts.patch(f"{SHIRTS}/b", {"metadata": {"labels": None}})
        await shirts.patch(f"{SHIRTS}/a", {"metadata": {"labels": None}})
        await shirts.patch(f"{SHIRTS}/c", {"spec": {"host": "b", "hostPort": "b:80"}})
        await shirts.patch(f"{SHIRTS}/c", {"spec": {"host": None, "hostPort": "a:80"}})
        expected = [("DELETED", "a"), ("DELETED", "c"), ("ADDED", "c")]
        assert await watch.events(3) == expected
    assert await names(shirts, selecting("spec.host=a", "&resourceVersion=0")) == ["a", "c"]


async def test_objects_stored_before_the_storage_version_changed_are_selected(api: Api) -> None:
    await by_webhook(api)
    for name, host in zip("abcd", "abab", strict=True):
        await api.create(SHIRTS, one(name, host))

    def swap(obj: Json) -> None:
        for each in obj["spec"]["versions"]:
            each["storage"] = each["name"] == "v2"

    await change(api, swap)
    await api.create(SHIRTS, one("e", "a"))
    assert await names(api, selecting("spec.host=a")) == ["a", "c", "e"]
    assert await names(api, f"{SHIRTS}?fieldSelector=spec.hostPort%3Da:80") == ["a", "c", "e"]
    await api.delete(selecting("spec.host!=a"))
    assert await names(api, SHIRTS) == ["a", "c", "e"]


@pytest.mark.parametrize("selector", ["spec.host=a", "spec.host!=a", "metadata.name!=a", ""])
async def test_while_the_webhook_is_away_nothing_is_deleted(api: Api, selector: str) -> None:
    webhook = await by_webhook(api)
    for name, host in zip("abcd", "abab", strict=True):
        await api.create(SHIRTS, one(name, host))
    await names(api, selecting(selector))
    webhook.down = "gone"
    response = await api.delete(selecting(selector))
    assert response.code == 500
    assert "conversion webhook for" in response.message
    assert (await api.get(selecting(selector))).code == 200
    assert await names(api, SHIRTS) == list("abcd")


class FailingRules:
    """Rules that have no value for any object."""

    def convert(self, obj: Json, api_version: str) -> Json:
        """As `ObjectConversion.convert`."""
        raise errors.internal_error(f"conversion from {obj['apiVersion']} to {api_version} failed")


async def test_while_rules_fail_nothing_is_deleted(api: Api) -> None:
    await by_rules(api)
    definition = api.cluster.registry.get(GROUP, "shirts")
    assert definition is not None
    definition.hub = FailingRules()
    await api.create(SHIRTS, one("a", "a"))
    await api.create(SHIRTS, one("b", "b"))
    for selector in ("spec.host!=a", "spec.host=a", "metadata.name=a", ""):
        assert (await api.get(selecting(selector))).code == 500
        assert (await api.delete(selecting(selector))).code == 500
    async with api.watch(selecting("spec.host=a", "&watch=1")) as watch:
        assert (await watch.event())["type"] == "ERROR"
    assert await names(api, SHIRTS) == ["a", "b"]
