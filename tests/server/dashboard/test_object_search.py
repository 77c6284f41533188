"""SelfObjectSearch: objects of all kinds by a part of their names."""

from typing import Any

import pytest

from sampan.server.authorization.namespaces import allowed_namespaces
from sampan.server.dashboard import object_search
from sampan.server.dashboard.object_search import KINDS_MAX, OBJECTS_MAX
from tests.server.cluster import Api
from tests.server.dashboard.browser import Browser
from tests.server.dashboard.test_namespaces import bind, fill_roles
from tests.server.frame import JANE
from tests.server.verbs.objects import config_map, pod

SEARCHES = "/apis/sampan.dev/v1alpha1/selfobjectsearches"


async def search(api: Api, text: str, **headers: str) -> Any:
    """Return the status of a search."""
    reply = await api.post(SEARCHES, {"spec": {"text": text}}, **headers)
    assert reply.code == 201, reply.body
    assert (reply.body["kind"], reply.body["spec"]) == ("SelfObjectSearch", {"text": text.strip().lower()})
    return reply.body["status"]


def found(status: Any) -> dict[str, list[str]]:
    """Return namespaces and names by resource, in order."""
    return {
        group["resource"]: [f"{each['namespace']}/{each['name']}" for each in group["objects"]]
        for group in status["groups"]
    }


async def make(api: Api, *places: str) -> None:
    """Create ConfigMaps: namespace and name."""
    for place in places:
        namespace, name = place.split("/")
        await api.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        await api.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map(name))


async def test_objects_of_all_kinds_are_found_the_best_names_first(api: Api) -> None:
    await make(api, "shop/my-web", "shop/web-2", "shop/web")
    await api.create("/api/v1/namespaces", {"metadata": {"name": "webhooks"}})
    await api.create("/api/v1/namespaces/shop/pods", pod("web-2-x"))
    status = await search(api, " Web")
    assert found(status) == {
        "configmaps": ["shop/web", "shop/web-2", "shop/my-web"],
        "pods": ["shop/web-2-x"],
        "namespaces": ["/webhooks"],
    }
    assert status["incomplete"] is False
    assert {**status["groups"][0], "objects": []} == {
        "group": "",
        "version": "v1",
        "resource": "configmaps",
        "kind": "ConfigMap",
        "namespaced": True,
        "objects": [],
        "more": 0,
    }


async def test_a_user_finds_only_what_they_may_list(api: Api) -> None:
    await fill_roles(api)
    await make(api, "shop/web", "bank/web")
    for namespace in ("shop", "bank"):
        await api.create(f"/api/v1/namespaces/{namespace}/pods", pod("web"))
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web"}}
        await api.create(f"/api/v1/namespaces/{namespace}/secrets", secret)
    assert found(await search(api, "web", **JANE)) == {}
    await bind(api, "shop")
    assert found(await search(api, "web", **JANE)) == {"pods": ["shop/web"]}
    await bind(api, "")
    assert found(await search(api, "web", **JANE)) == {"pods": ["bank/web", "shop/web"]}


async def test_the_rest_of_many_objects_is_counted_without_objects_that_the_user_may_not_list(api: Api) -> None:
    await fill_roles(api)
    for number in range(OBJECTS_MAX + 3):
        await api.create("/api/v1/namespaces/default/pods", pod(f"web-{number:02}"))
    await api.create("/api/v1/namespaces", {"metadata": {"name": "bank"}})
    await api.create("/api/v1/namespaces/bank/pods", pod("web-00"))
    await bind(api, "default")
    [group] = (await search(api, "web", **JANE))["groups"]
    assert (len(group["objects"]), group["more"]) == (OBJECTS_MAX, 3)
    assert len((await search(api, "a" * 2))["groups"]) <= KINDS_MAX


async def test_the_number_of_decisions_of_a_search_is_limited(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill_roles(api)
    monkeypatch.setattr(object_search, "DECISIONS_MAX", 3)
    decided: list[str] = []

    async def recorded(authorizer: Any, user: Any, info: Any, namespaces: Any) -> Any:
        decided.extend(namespaces)
        return await allowed_namespaces(authorizer, user, info, namespaces)

    monkeypatch.setattr(object_search, "allowed_namespaces", recorded)
    await make(api, *(f"n{number}/web" for number in range(5)), "bank/other")
    assert (await search(api, "web", **JANE)) == {"groups": [], "incomplete": True}
    assert decided == ["n0", "n1", "n2"]


async def test_events_are_not_found(api: Api) -> None:
    await make(api, "shop/web")
    event = {"metadata": {"name": "web.1"}, "involvedObject": {"namespace": "shop"}, "reason": "r", "type": "Normal"}
    await api.create("/api/v1/namespaces/shop/events", event)
    assert set(found(await search(api, "web"))) == {"configmaps"}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        {},
        {"spec": {}},
        {"spec": {"text": 1}},
        {"spec": {"text": " a "}},
        {"spec": {"text": "a" * 254}},
        {"spec": {"text": "web", "limit": 3}},
    ],
    ids=str,
)
async def test_an_invalid_search_is_refused(api: Api, body: Any) -> None:
    assert (await api.post(SEARCHES, body, **JANE)).code == 400


async def test_anonymous_users_find_nothing(browser: Browser) -> None:
    assert (await browser.fetch("POST", SEARCHES, {"spec": {"text": "web"}})).code == 403
