"""Histories of custom resources in the version of the request, and of objects that cannot be read."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.server.verbs.history.history import PAGE_FIRST
from tests.server.cluster import Api, served
from tests.server.conversion_webhook import SHIRTS_2, FakeWebhook, defined
from tests.server.custom_resources import CRDS, SHIRTS, change, shirt
from tests.server.history.requests import lines_of, query, writes_of
from tests.server.test_custom_resources_versions import store_v2, two

PATHS = [SHIRTS, SHIRTS_2]


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """Start a server, and return its administrator's client."""
    async with served() as api:
        yield api


async def test_each_state_is_in_the_version_of_the_request(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    await api.patch(f"{SHIRTS}/a", {"spec": {"color": "red"}})
    await change(api, store_v2)
    await api.patch(f"{SHIRTS_2}/a", {"spec": {"color": "green"}})
    await api.delete(f"{SHIRTS}/a")
    for path in PATHS:
        version = path.split("/")[3]
        for target, mode in ((f"{path}/a", "revisions"), (path, "changes"), (path, "deleted")):
            objects = [write["object"] for write in await writes_of(api, target, mode, limit=2)]
            assert {obj["apiVersion"] for obj in objects} == {f"stable.example.com/{version}"}
            assert objects[0]["spec"] == {"color": "green"}


async def test_a_webhook_converts_all_states_of_a_page_at_once(api: Api) -> None:
    webhook = FakeWebhook()
    api.connections.connect = webhook.connect
    await api.create(CRDS, defined())
    await api.create(SHIRTS, shirt("a", {"hostPort": "a:80"}))
    await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:81"}})
    found = [write["object"] for write in (await lines_of(api, f"{SHIRTS_2}/a"))[:-1]]
    assert [obj["spec"] for obj in found] == [{"host": "b", "port": "81"}, {"host": "a", "port": "80"}]


async def test_a_webhook_that_fails_is_an_error_of_the_request(api: Api) -> None:
    webhook = FakeWebhook()
    api.connections.connect = webhook.connect
    await api.create(CRDS, defined())
    await api.create(SHIRTS, shirt("a", {"hostPort": "a:80"}))
    webhook.down = "down"
    response = await api.get(f"{SHIRTS_2}/a?{query('revisions')}")
    assert response.code == 500
    assert "down" in response.message


async def test_an_error_after_the_first_page_is_the_last_line(api: Api) -> None:
    webhook = FakeWebhook()
    api.connections.connect = webhook.connect
    await api.create(CRDS, defined())
    await api.create(SHIRTS, shirt("a", {"hostPort": "a:0"}))
    for number in range(9):
        await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": f"a:{number}"}})

    def fail_at_the_second_page(review: Any) -> None:
        if len(review["response"]["convertedObjects"]) < PAGE_FIRST:
            review["response"] = {}

    webhook.spoil = fail_at_the_second_page
    *writes, error = await lines_of(api, f"{SHIRTS_2}/a")
    assert (len(writes), error["type"], error["object"]["code"]) == (PAGE_FIRST, "ERROR", 500)


async def test_a_state_that_cannot_be_read_has_an_error_in_place_of_its_object(api: Api) -> None:
    key, store = "/registry/configmaps/default/a", api.cluster.store
    revision = await store.create(key, b"k8s:enc:aescbc:v1:gone:x")
    await store.delete(key, revision)
    removed, end = await lines_of(api, "/api/v1/namespaces/default/configmaps", "deleted", limit=1)
    assert removed["object"] is None
    assert "unable to transform key" in removed["error"]
    assert end["type"] == "END"
