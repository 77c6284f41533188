"""Custom resources whose versions a webhook converts (F27)."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.registry.crd import converted_ahead
from sampan.server.verbs.watch import converted_events
from sampan.storage.memory import MemoryStore
from tests.registry.webhook.tls import bundle, listening, ok, requests
from tests.server.cluster import Api, ApiResponse, Watch, served
from tests.server.conversion_webhook import SHIRTS_2, V1, V2, FakeWebhook, Json, defined, first, reviewed
from tests.server.custom_resources import CRD, CRDS, GROUP, SHIRTS, change, condition, eventually, messages, shirt
from tests.server.verbs.conftest import api
from tests.server.verbs.objects import TABLE

__all__ = ["api"]


@pytest.fixture
async def webhook(api: Api, monkeypatch: pytest.MonkeyPatch) -> FakeWebhook:
    """The webhook of shirts, which are defined. Nothing is converted before a request needs it."""
    monkeypatch.setattr(converted_ahead, "PAUSE_S", 3600.0)
    fake = FakeWebhook()
    api.connections.connect = fake.connect
    await api.create(CRDS, defined())
    return fake


def one(name: str = "a", host_port: str = "a:80", **more: Any) -> Json:
    """A shirt of v1."""
    return shirt(name, {"hostPort": host_port}, **more)


def two(name: str = "a", host: str = "a", port: str = "80") -> Json:
    """A shirt of v2."""
    return shirt(name, {"host": host, "port": port}, api="v2")


async def events(watch: Watch, count: int) -> list[Json]:
    """The next events of a watch."""
    return [await watch.event() for _ in range(count)]


async def test_the_stored_version_needs_no_webhook(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
    assert len((await api.get(SHIRTS)).body["items"]) == 1
    await api.delete(f"{SHIRTS}/a")
    assert webhook.requested == []


async def test_an_object_is_read_in_the_other_version(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(SHIRTS, one())
    found = (await api.get(f"{SHIRTS_2}/a")).body
    assert (found["apiVersion"], found["spec"]) == (V2, {"host": "a", "port": "80"})
    assert found["metadata"] == made["metadata"]
    (review,) = webhook.requested
    assert (review["kind"], review["apiVersion"]) == ("ConversionReview", "apiextensions.k8s.io/v1")
    assert review["request"]["desiredAPIVersion"] == V2
    assert review["request"]["objects"] == [made]


async def test_an_object_is_written_in_the_other_version(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(SHIRTS_2, two())
    assert (made["apiVersion"], made["spec"]) == (V2, {"host": "a", "port": "80"})
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"hostPort": "a:80"}
    made["spec"]["port"] = "81"
    assert (await api.put(f"{SHIRTS_2}/a", made)).body["spec"] == {"host": "a", "port": "81"}
    assert (await api.patch(f"{SHIRTS_2}/a", {"spec": {"host": "b"}})).body["spec"] == {"host": "b", "port": "81"}
    applied = await api.apply(f"{SHIRTS_2}/a", two(host="c", port="81"), "fieldManager=m&force=true")
    assert applied.body["spec"] == {"host": "c", "port": "81"}
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"hostPort": "c:81"}


async def test_a_client_that_owns_a_field_is_compared_in_the_versions_of_its_owners(
    api: Api, webhook: FakeWebhook
) -> None:
    await api.apply(f"{SHIRTS}/a", one(), "fieldManager=first")
    refused = await api.apply(f"{SHIRTS_2}/a", two(host="c"), "fieldManager=second")
    assert (refused.code, refused.reason) == (409, "Conflict")
    assert refused.message == 'Apply failed with 1 conflict: conflict with "first": .spec.hostPort'
    taken = await api.apply(f"{SHIRTS_2}/a", two(host="c"), "fieldManager=second&force=true")
    assert [entry["manager"] for entry in taken.body["metadata"]["managedFields"]] == ["second"]
    changed = await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "d:82"}})
    assert [entry["apiVersion"] for entry in changed.body["metadata"]["managedFields"]] == [V1]


async def test_a_dry_run_in_the_other_version_stores_nothing(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(f"{SHIRTS_2}?dryRun=All", two())
    assert made["spec"] == {"host": "a", "port": "80"}
    assert (await api.get(SHIRTS)).body["items"] == []


async def test_the_objects_of_a_list_go_in_one_review(api: Api, webhook: FakeWebhook) -> None:
    for name in "abc":
        await api.create(SHIRTS, one(name, f"{name}:80"))
    found = (await api.get(SHIRTS_2)).body
    assert [(item["apiVersion"], item["spec"]["host"]) for item in found["items"]] == [(V2, name) for name in "abc"]
    assert [len(review["request"]["objects"]) for review in webhook.requested] == [3]
    table = await api.get(f"{SHIRTS_2}?resourceVersion=0", accept=TABLE)
    assert [row["cells"][0] for row in table.body["rows"]] == ["a", "b", "c"]
    await api.get(f"{SHIRTS_2}/b?resourceVersion=0")
    assert len(webhook.requested) == 1


@pytest.mark.parametrize(
    ("target", "query", "code"),
    [
        (SHIRTS_2, "", 200),
        (SHIRTS_2, "?limit=1", 200),
        (SHIRTS_2, "?resourceVersion=0", 200),
        (SHIRTS_2, "?resourceVersion={revision}", 200),
        (SHIRTS_2, "?resourceVersion={revision}&resourceVersionMatch=Exact", 200),
        (f"{SHIRTS_2}/a", "", 500),
        (f"{SHIRTS_2}/a", "?resourceVersion=0", 200),
        (f"{SHIRTS_2}/a", "?resourceVersion={revision}", 200),
    ],
)
async def test_without_its_webhook_only_the_newest_object_cannot_be_read_in_another_version(
    api: Api, webhook: FakeWebhook, target: str, query: str, code: int
) -> None:
    """Lists come from the cache of converted objects, as from Kubernetes' watch cache. A get reads the store."""
    await api.create(SHIRTS, one())
    await api.create(SHIRTS, one("b"))
    revision = (await api.get(SHIRTS_2)).metadata["resourceVersion"]
    webhook.down = "gone"
    webhook.requested.clear()
    found = await api.get(target + query.format(revision=revision))
    assert found.code == code
    assert code == 500 or webhook.requested == []


async def test_an_object_that_changed_without_the_webhook_cannot_be_listed_in_another_version(
    api: Api, webhook: FakeWebhook
) -> None:
    await api.create(SHIRTS, one())
    assert (await api.get(SHIRTS_2)).code == 200
    webhook.down = "gone"
    await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
    assert (await api.get(SHIRTS_2)).code == 500
    webhook.down = ""
    assert (await api.get(SHIRTS_2)).body["items"][0]["spec"]["host"] == "b"


async def test_a_new_webhook_converts_the_objects_of_lists_again(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    assert (await api.get(SHIRTS_2)).code == 200

    def accept_both(body: Json) -> None:
        body["spec"]["conversion"]["webhook"]["conversionReviewVersions"] = ["v1", "v1beta1"]

    assert (await change(api, accept_both)).code == 200
    webhook.requested.clear()
    assert (await api.get(SHIRTS_2)).code == 200
    assert len(webhook.requested) == 1


async def test_a_watch_shows_the_other_version(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    async with api.watch(f"{SHIRTS_2}?watch=1") as first, api.watch(f"{SHIRTS_2}?watch=1") as second:
        for watch in (first, second):
            (event,) = await events(watch, 1)
            assert (event["type"], event["object"]["spec"]) == ("ADDED", {"host": "a", "port": "80"})
        webhook.requested.clear()
        await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
        await api.delete(f"{SHIRTS}/a")
        for watch in (first, second):
            changed, deleted = await events(watch, 2)
            assert (changed["type"], changed["object"]["apiVersion"]) == ("MODIFIED", V2)
            assert (deleted["type"], deleted["object"]["apiVersion"]) == ("DELETED", V2)
            assert deleted["object"]["spec"]["host"] == "b"
    assert len(webhook.requested) <= 2


async def test_a_watch_goes_on_when_its_webhook_is_there_again(
    api: Api, webhook: FakeWebhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_events, "RETRY_FIRST_S", 0.01)
    await api.create(SHIRTS, one())
    async with api.watch(f"{SHIRTS_2}?watch=1") as watch:
        await events(watch, 1)
        webhook.down, webhook.back_after = "no one there", len(webhook.requested) + 3
        await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
        await api.delete(f"{SHIRTS}/a")
        changed, deleted = await events(watch, 2)
    assert (changed["type"], changed["object"]["spec"]["host"]) == ("MODIFIED", "b")
    assert (deleted["type"], deleted["object"]["apiVersion"]) == ("DELETED", V2)


async def test_a_watch_whose_webhook_does_not_come_again_ends_with_its_time(
    api: Api, webhook: FakeWebhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_events, "RETRY_FIRST_S", 0.01)
    await api.create(SHIRTS, one())
    async with api.watch(f"{SHIRTS_2}?watch=1&timeoutSeconds=1") as watch:
        await events(watch, 1)
        webhook.down = "no one there"
        await api.delete(f"{SHIRTS}/a")
        assert await watch.ended()
    assert len(webhook.requested) > 2


@pytest.mark.parametrize("query", ["", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"])
async def test_a_watch_that_cannot_show_what_there_is_ends_with_an_error(
    api: Api, webhook: FakeWebhook, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(converted_events, "INITIAL_PATIENCE_S", 0.0)
    await api.create(SHIRTS, one())
    webhook.down = "no one there"
    async with api.watch(f"{SHIRTS_2}?watch=1{query}") as watch:
        (event,) = await events(watch, 1)
        assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
        assert await watch.ended()


@pytest.mark.parametrize("method", ["get", "list", "create", "update", "patch", "delete"])
async def test_when_the_webhook_fails_every_request_in_another_version_fails(
    api: Api, webhook: FakeWebhook, method: str
) -> None:
    await api.create(SHIRTS, one())
    webhook.down = "no one there"
    response = await {
        "get": lambda: api.get(f"{SHIRTS_2}/a"),
        "list": lambda: api.get(SHIRTS_2),
        "create": lambda: api.post(SHIRTS_2, two("b")),
        "update": lambda: api.put(f"{SHIRTS_2}/a", two()),
        "patch": lambda: api.patch(f"{SHIRTS_2}/a", {"spec": {"host": "b"}}),
        "delete": lambda: api.delete(f"{SHIRTS_2}/a"),
    }[method]()
    assert (response.code, response.reason) == (500, "")
    given = "v2" if method == "create" else "v1"
    assert f"conversion webhook for {GROUP}/{given}, Kind=Shirt failed: no one there" in response.message
    (left,) = (await api.get(SHIRTS)).body["items"]
    assert left["spec"] == {"hostPort": "a:80"}


@pytest.mark.parametrize("dry_run", ["", "?dryRun=All"])
async def test_a_collection_is_converted_in_one_request_when_it_is_deleted(
    api: Api, webhook: FakeWebhook, dry_run: str
) -> None:
    for name in ("a", "b", "c"):
        await api.create(SHIRTS, one(name))
    deleted = await api.delete(SHIRTS_2 + dry_run)
    assert [item["apiVersion"] for item in deleted.body["items"]] == [V2] * 3
    assert len(webhook.requested) == 1
    assert len((await api.get(SHIRTS)).body["items"]) == (3 if dry_run else 0)


async def test_of_the_metadata_only_labels_and_annotations_may_change(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(SHIRTS, one())

    def spoil(review: Json) -> None:
        metadata = first(review)["metadata"]
        metadata.update(labels={"a": "b"}, annotations={"c": "d"}, finalizers=["x/y"], generation=9)

    webhook.spoil = spoil
    metadata = (await api.get(f"{SHIRTS_2}/a")).metadata
    assert (metadata.pop("labels"), metadata.pop("annotations")) == ({"a": "b"}, {"c": "d"})
    assert metadata == made["metadata"]


async def test_a_converted_field_outside_the_schema_is_dropped(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    webhook.spoil = lambda review: first(review)["spec"].update(colour="blue")
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"host": "a", "port": "80"}


async def test_objects_stored_in_an_earlier_storage_version_are_converted(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())

    def store_v2(body: Json) -> None:
        for each in body["spec"]["versions"]:
            each["storage"] = each["name"] == "v2"

    assert (await change(api, store_v2)).code == 200
    await api.create(SHIRTS_2, two("b", "b"))
    webhook.requested.clear()
    found = (await api.get(SHIRTS_2)).body["items"]
    assert [(item["apiVersion"], item["spec"]["host"]) for item in found] == [(V2, "a"), (V2, "b")]
    assert [obj["metadata"]["name"] for obj in webhook.requested[0]["request"]["objects"]] == ["a"]
    found = (await api.get(SHIRTS)).body["items"]
    assert [(item["apiVersion"], item["spec"]["hostPort"]) for item in found] == [(V1, "a:80"), (V1, "b:80")]
    assert (await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "c:80"}})).code == 200
    webhook.requested.clear()
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"]["host"] == "c"
    assert webhook.requested == []


@pytest.mark.parametrize(
    ("review_versions", "used"),
    [(["v1beta1", "v1"], "v1beta1"), (["v9", "v1"], "v1")],
    ids=["the first", "the first that is known"],
)
async def test_reviews_are_in_a_version_that_the_webhook_accepts(review_versions: list[str], used: str) -> None:
    async with served() as api:
        fake = FakeWebhook()
        api.connections.connect = fake.connect
        await api.create(CRDS, defined(review_versions=review_versions))
        await api.create(SHIRTS_2, two())
        assert {review["apiVersion"] for review in fake.requested} == {f"apiextensions.k8s.io/{used}"}


async def test_a_crd_goes_with_its_objects_while_the_webhook_is_down(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    stored = f"/registry/{GROUP}/"
    assert (await api.cluster.store.range(stored, stored[:-1] + "0")).items
    webhook.down = "no one there"
    await api.delete(CRD)
    await eventually(lambda: api.get(CRD), lambda response: response.code == 404)
    assert not (await api.cluster.store.range(stored, stored[:-1] + "0")).items


async def test_a_crd_that_needs_its_webhook_for_deletion_reports_the_reason(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())

    def store_v2(body: Json) -> None:
        for each in body["spec"]["versions"]:
            each["storage"] = each["name"] == "v2"

    assert (await change(api, store_v2)).code == 200
    webhook.down = "no one there"
    await api.delete(CRD)

    def has_failed(response: ApiResponse) -> bool:
        return bool(condition(response.body, "Terminating").get("reason") == "InstanceDeletionFailed")

    found = condition((await eventually(lambda: api.get(CRD), has_failed)).body, "Terminating")
    text = f"could not issue all deletes: conversion webhook for {V1}, Kind=Shirt failed: no one there"
    assert (found["status"], found["message"]) == ("True", text)
    webhook.down = ""
    await eventually(lambda: api.get(CRD), lambda response: response.code == 404)


async def test_versions_are_converted_after_a_restart() -> None:
    store, fake = MemoryStore(), FakeWebhook()
    async with served(store) as api:
        api.connections.connect = fake.connect
        await api.create(CRDS, defined())
        await api.create(SHIRTS, one())
    async with served(store) as api:
        response = await api.get(f"{SHIRTS_2}/a")
        assert response.code == 500
        text = 'Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
        assert text in response.message


async def test_the_rules_of_the_requests_version_hold(api: Api, webhook: FakeWebhook) -> None:
    response = await api.post(SHIRTS_2, shirt("a", {"host": 1}, api="v2"))
    assert (response.code, messages(response)) == (
        422,
        ['spec.host: Invalid value: "integer": spec.host in body must be of type string: "integer"'],
    )
    assert webhook.requested == []


async def test_a_webhook_is_called_over_tls(api: Api, tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, body in requests(reader):
            writer.write(ok(orjson.dumps(reviewed(body))))

    async with listening(tmp_path, handle) as port:
        await api.create(CRDS, defined(url=f"https://127.0.0.1:{port}/convert", caBundle=bundle()))
        await api.create(SHIRTS_2, two())
        assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"hostPort": "a:80"}
        assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"host": "a", "port": "80"}
