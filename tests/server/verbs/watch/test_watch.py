"""WATCH: its beginning, its events and its end.

Source: apiserver pkg/endpoints/handlers/watch.go, pkg/storage/cacher (1.36).
"""

import asyncio
from typing import Any

import pytest

from tests.server.cluster import Api, Watch
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    PARTIAL,
    PODS,
    TABLE,
    WIDGETS,
    config_map,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)
from tests.server.verbs.test_list import compacted

INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
END = {"k8s.io/initial-events-end": "true"}


@pytest.mark.parametrize("query", ["", "&resourceVersion=0", "&resourceVersion="], ids=["unset", "zero", "empty"])
async def test_a_watch_from_nowhere_begins_with_what_is_there(api: Api, query: str) -> None:
    await some_config_maps(api, 2)
    async with api.watch(f"{CONFIG_MAPS}?watch=true{query}") as watch:
        assert await watch.events(2) == [("ADDED", "cm-0"), ("ADDED", "cm-1")]
        await api.create(CONFIG_MAPS, config_map("new"))
        assert await watch.events(1) == [("ADDED", "new")]


async def test_a_watch_from_a_revision_reports_all_that_came_after_in_order(api: Api) -> None:
    created = await some_config_maps(api, 3)
    await api.patch(f"{CONFIG_MAPS}/cm-0", {"data": {"k": "w"}})
    await api.delete(f"{CONFIG_MAPS}/cm-1")
    revision = created[0]["metadata"]["resourceVersion"]
    async with api.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={revision}") as watch:
        assert await watch.events(4) == [
            ("ADDED", "cm-1"),
            ("ADDED", "cm-2"),
            ("MODIFIED", "cm-0"),
            ("DELETED", "cm-1"),
        ]


async def test_all_watchers_see_one_order(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as one, api.watch("/api/v1/configmaps?watch=1") as other:
        await asyncio.gather(*(api.create(CONFIG_MAPS, config_map(f"x{i}")) for i in range(10)))
        first = [(await one.event())["object"]["metadata"]["resourceVersion"] for _ in range(10)]
        second = [(await other.event())["object"]["metadata"]["resourceVersion"] for _ in range(10)]
    assert first == second == sorted(first, key=int)
    assert len(set(first)) == 10


async def test_events_are_lines_of_json(api: Api) -> None:
    await some_config_maps(api, 1)
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
        event = await watch.event()
        assert watch.response.content_type == "application/json"
    assert event.keys() == {"type", "object"}
    assert (event["object"]["kind"], event["object"]["apiVersion"]) == ("ConfigMap", "v1")


async def test_a_deletion_carries_its_own_revision(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
        await watch.event()
        await api.delete(f"{CONFIG_MAPS}/cm-0")
        gone = (await watch.event())["object"]
    assert gone["data"] == created["data"]
    assert int(gone["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


async def forget(api: Api) -> None:
    """Forget the past in the store and in the caches: watches get what either still has."""
    await compacted(api)
    for cache in api.cluster.caches.values():
        await cache.fresh()
        cache.ring.reset(cache.revision)


async def test_a_watch_from_a_compacted_revision_is_ended_with_an_error(api: Api) -> None:
    created = await some_config_maps(api, 3)
    await forget(api)
    revision = created[0]["metadata"]["resourceVersion"]
    async with api.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={revision}") as watch:
        event = await watch.event()
        assert event["type"] == "ERROR"
        assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
        assert event["object"]["message"].startswith(f"too old resource version: {revision} (")
        assert await watch.ended()


async def test_a_watch_from_the_future_waits(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    revision = int(created["metadata"]["resourceVersion"]) + 1
    async with api.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={revision}") as watch:
        await some_more(api)
        assert await watch.events(1) == [("ADDED", "more-1")]


async def some_more(api: Api) -> None:
    """Two more ConfigMaps."""
    for i in range(2):
        await api.create(CONFIG_MAPS, config_map(f"more-{i}"))


@pytest.mark.parametrize(
    ("query", "present"), [("", 2), ("&resourceVersion=0", 2), ("&resourceVersion=5", 2)], ids=["unset", "0", "5"]
)
async def test_initial_events_end_with_a_bookmark(api: Api, query: str, present: int) -> None:
    created = await some_config_maps(api, 2)
    async with api.watch(f"{CONFIG_MAPS}?watch=1&{INITIAL}{query}") as watch:
        assert await watch.events(present) == [("ADDED", "cm-0"), ("ADDED", "cm-1")]
        event = await watch.event()
        assert event["type"] == "BOOKMARK"
        assert event["object"]["metadata"]["annotations"] == END
        assert int(event["object"]["metadata"]["resourceVersion"]) >= int(created[-1]["metadata"]["resourceVersion"])
        await api.create(CONFIG_MAPS, config_map("new"))
        assert await watch.events(1) == [("ADDED", "new")]


async def test_a_legacy_watch_with_bookmarks_ends_its_state_with_one(api: Api) -> None:
    await some_config_maps(api, 1)
    async with api.watch(f"{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true") as watch:
        await watch.event()
        assert (await watch.event())["object"]["metadata"]["annotations"] == END


async def test_no_initial_events(api: Api) -> None:
    await some_config_maps(api, 2)
    query = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
    async with api.watch(f"{CONFIG_MAPS}?watch=1&{query}") as watch:
        await api.create(CONFIG_MAPS, config_map("new"))
        assert await watch.events(1) == [("ADDED", "new")]


async def test_initial_events_of_the_future_time_out_in_the_stream(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1&{INITIAL}&resourceVersion=999999") as watch:
        event = await watch.event()
        assert (event["type"], event["object"]["code"]) == ("ERROR", 504)
        assert event["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
        assert await watch.ended()


@pytest.mark.parametrize(
    ("query", "field", "text"),
    [
        (
            "sendInitialEvents=true",
            "resourceVersionMatch",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            "resourceVersionMatch=NotOlderThan&resourceVersion=5",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
    ],
)
async def test_watch_option_rules(api: Api, query: str, field: str, text: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?watch=1&{query}")
    assert (reply.code, reply.reason) == (422, "Invalid")
    assert [(c["field"], c["message"]) for c in reply.causes] == [(field, text)]


async def test_an_unreadable_revision_is_refused(api: Api) -> None:
    assert (await api.get(f"{CONFIG_MAPS}?watch=1&resourceVersion=abc")).code == 500


async def test_objects_enter_and_leave_a_label_selector(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1&labelSelector=a=1") as watch:
        await api.create(CONFIG_MAPS, config_map("x", labels={"a": "0"}))
        await api.patch(f"{CONFIG_MAPS}/x", {"metadata": {"labels": {"a": "1"}}})
        await api.patch(f"{CONFIG_MAPS}/x", {"data": {"n": "1"}})
        left = await api.patch(f"{CONFIG_MAPS}/x", {"metadata": {"labels": {"a": "2"}}})
        await api.delete(f"{CONFIG_MAPS}/x")
        await api.create(CONFIG_MAPS, config_map("y", labels={"a": "1"}))
        assert await watch.events(2) == [("ADDED", "x"), ("MODIFIED", "x")]
        gone = await watch.event()
        assert gone["type"] == "DELETED"
        assert gone["object"]["metadata"]["labels"] == {"a": "1"}
        assert gone["object"]["metadata"]["resourceVersion"] == left.metadata["resourceVersion"]
        assert await watch.events(1) == [("ADDED", "y")]


async def test_objects_enter_and_leave_a_field_selector(api: Api) -> None:
    async with api.watch(f"{PODS}?watch=1&fieldSelector=status.phase=Running") as watch:
        await api.create(PODS, pod())
        for phase in ("Running", "Succeeded"):
            patched = await api.patch(f"{PODS}/p/status", {"status": {"phase": phase}})
            assert patched.code == 200
        assert await watch.events(2) == [("ADDED", "p"), ("DELETED", "p")]


@pytest.mark.parametrize(
    "target",
    [
        f"{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=cm-1",
        "/api/v1/configmaps?watch=1&fieldSelector=metadata.name=cm-1,metadata.namespace=default",
        "/api/v1/watch/namespaces/default/configmaps/cm-1",
        "/api/v1/watch/namespaces/default/configmaps/cm-1?fieldSelector=metadata.name=cm-1",
    ],
)
async def test_a_watch_of_one_object(api: Api, target: str) -> None:
    await some_config_maps(api, 3)
    async with api.watch(target) as watch:
        await api.delete(f"{CONFIG_MAPS}/cm-0")
        await api.delete(f"{CONFIG_MAPS}/cm-1")
        assert await watch.events(2) == [("ADDED", "cm-1"), ("DELETED", "cm-1")]


async def test_a_name_and_another_selector_do_not_fit(api: Api) -> None:
    reply = await api.get("/api/v1/watch/namespaces/default/configmaps/a?fieldSelector=metadata.name=b")
    assert (reply.code, reply.message) == (400, "fieldSelector metadata.name doesn't match requested name")


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/watch/namespaces/default/configmaps",
        "/api/v1/watch/configmaps",
        "/api/v1/watch/namespaces/default/configmaps?watch=false",
    ],
    ids=["namespace", "all", "watch=false"],
)
async def test_legacy_watch_paths(api: Api, target: str) -> None:
    await some_config_maps(api, 1)
    async with api.watch(target) as watch:
        assert ("ADDED", "cm-0") in await watch.events(1)


@pytest.mark.parametrize(
    "target", ["/api/v1/watch/namespaces", "/api/v1/watch/namespaces/default", "/api/v1/namespaces?watch=1"]
)
async def test_watches_of_namespaces(api: Api, target: str) -> None:
    async with api.watch(target) as watch:
        assert await watch.events(1) == [("ADDED", "default")]


@pytest.mark.parametrize(
    ("value", "streams"),
    [("true", True), ("1", True), ("yes", True), ("", True), ("false", False), ("0", False), ("False", False)],
)
async def test_which_values_of_watch_mean_a_watch(api: Api, value: str, streams: bool) -> None:
    response = await api.client.get(f"{CONFIG_MAPS}?watch={value}&timeoutSeconds=1")
    assert (response.stream is not None) is streams
    if response.stream is not None:
        await response.stream.aclose()  # type: ignore[attr-defined]  # a generator


async def test_the_time_of_a_watch_ends_it_without_a_word(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=1000") as watch:
        assert await watch.ended()


async def test_a_bookmark_comes_before_the_end(api: Api) -> None:
    await some_config_maps(api, 1)
    query = "watch=1&timeoutSeconds=3&allowWatchBookmarks=true&resourceVersion=1"
    async with api.watch(f"{CONFIG_MAPS}?{query}") as watch:
        assert await watch.events(1) == [("ADDED", "cm-0")]
        event = await watch.event()
    assert event["type"] == "BOOKMARK"
    assert event["object"].keys() == {"kind", "apiVersion", "metadata"}
    assert event["object"]["metadata"].keys() == {"resourceVersion"}
    assert event["object"]["kind"] == "ConfigMap"


async def test_a_table_watch_names_its_columns_once(api: Api) -> None:
    await some_config_maps(api, 2)
    async with api.watch(f"{CONFIG_MAPS}?watch=1", accept=TABLE) as watch:
        first, second = (await watch.event())["object"], (await watch.event())["object"]
    assert [c["name"] for c in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["columnDefinitions"] is None
    assert second["rows"][0]["cells"][:2] == ["cm-1", 1]
    assert second["rows"][0]["object"]["metadata"]["name"] == "cm-1"
    assert second["kind"] == "Table"


async def test_a_table_watch_with_whole_objects(api: Api) -> None:
    await some_config_maps(api, 1)
    async with api.watch(f"{CONFIG_MAPS}?watch=1&includeObject=Object", accept=TABLE) as watch:
        assert (await watch.event())["object"]["rows"][0]["object"]["data"] == {"k": "v"}


async def test_bookmarks_of_a_table_watch_are_tables(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1&{INITIAL}", accept=TABLE) as watch:
        event = await watch.event()
    assert (event["type"], event["object"]["kind"]) == ("BOOKMARK", "Table")
    assert event["object"]["rows"][0]["object"]["metadata"]["annotations"] == END


async def test_a_watch_of_metadata(api: Api) -> None:
    await some_config_maps(api, 1)
    async with api.watch(f"{CONFIG_MAPS}?watch=1&{INITIAL}", accept=PARTIAL) as watch:
        event, bookmark = await watch.event(), await watch.event()
    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert "data" not in event["object"]
    assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "PartialObjectMetadata")
    assert bookmark["object"]["metadata"]["annotations"] == END


@pytest.mark.parametrize("accept", ["application/yaml", "text/plain", "application/cbor-seq"])
async def test_a_watch_cannot_be_had_in_all_types(api: Api, accept: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?watch=1", accept=accept)
    assert reply.code == 406
    assert b"NotAcceptable" in reply.response.body


async def test_a_watch_of_custom_resources(api: Api) -> None:
    await with_widgets(api)
    async with api.watch(f"{WIDGETS}?watch=1&{INITIAL}") as watch:
        bookmark = await watch.event()
        await api.create(WIDGETS, widget())
        event = await watch.event()
    assert (bookmark["object"]["kind"], bookmark["object"]["apiVersion"]) == ("Widget", "example.com/v1")
    assert event["object"]["apiVersion"] == "example.com/v1"


async def _rest(watch: Watch) -> list[Any]:
    events = []
    try:
        while True:
            events.append(await watch.event())
    except StopAsyncIteration:
        return events


async def test_a_slow_watcher_is_ended_and_may_resume(api: Api) -> None:
    async with api.watch(f"{CONFIG_MAPS}?watch=1") as watch:
        await api.create(CONFIG_MAPS, config_map("first"))
        first = await watch.event()
        cache = api.cluster.caches["/registry/configmaps/"]
        await api.create(CONFIG_MAPS, config_map("pending"))
        cache.poll()
        for i in range(1001):
            await api.create(CONFIG_MAPS, config_map(f"x{i}"))
        cache.poll()
        events = await _rest(watch)
        assert len(events) < 1002
    assert cache.watchers == 0
    revision = [first, *events][-1]["object"]["metadata"]["resourceVersion"]
    async with api.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={revision}") as again:
        for _ in range(1002 - len(events)):
            await again.event()


async def test_a_watch_that_is_given_up_leaves_nothing(api: Api) -> None:
    cache = api.cluster.caches["/registry/configmaps/"]
    async with api.watch(f"{CONFIG_MAPS}?watch=1"):
        assert cache.watchers == 1
    assert cache.watchers == 0


async def test_a_refused_watch_leaves_nothing(api: Api) -> None:
    cache = api.cluster.caches["/registry/configmaps/"]
    for query in ("includeObject=All", "labelSelector=(", "resourceVersion=x", "limit=x", "timeoutSeconds=x"):
        await api.get(f"{CONFIG_MAPS}?watch=1&{query}", accept=TABLE)
    assert cache.watchers == 0


@pytest.mark.parametrize("query", ["", "?watch=1"])
async def test_new_requests_are_refused_while_draining(api: Api, query: str) -> None:
    api.server.lifecycle.draining = True
    reply = await api.get(CONFIG_MAPS + query)
    assert (reply.code, reply.body) == (429, b"The apiserver is shutting down, please try again later.")
    assert any(name == b"Retry-After" for name, _ in reply.response.headers)


async def test_no_watch_where_nothing_is_stored(api: Api) -> None:
    reply = await api.get("/apis/authentication.k8s.io/v1/tokenreviews?watch=1")
    assert (reply.code, reply.reason) == (405, "MethodNotAllowed")
