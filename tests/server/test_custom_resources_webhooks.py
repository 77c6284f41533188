"""Custom resources whose versions a webhook converts (F27)."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.storage.memory import MemoryStore
from tests.registry.webhook.tls import bundle, listening, ok, requests
from tests.server.cluster import Api, Watch, served
from tests.server.conversion_webhook import SHIRTS_2, V1, V2, FakeWebhook, Json, defined, reviewed
from tests.server.custom_resources import CRD, CRDS, GROUP, SHIRTS, change, eventually, messages, shirt
from tests.server.verbs.conftest import api
from tests.server.verbs.objects import TABLE

__all__ = ["api"]


@pytest.fixture
async def webhook(api: Api) -> FakeWebhook:
    """The webhook of shirts, which are defined."""
    fake = FakeWebhook()
    api.cluster.connect = fake.connect
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
    assert webhook.asked == []


async def test_an_object_is_read_in_the_other_version(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(SHIRTS, one())
    found = (await api.get(f"{SHIRTS_2}/a")).body
    assert (found["apiVersion"], found["spec"]) == (V2, {"host": "a", "port": "80"})
    assert found["metadata"] == made["metadata"]
    (review,) = webhook.asked
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


async def test_who_owns_a_field_is_compared_in_the_versions_of_its_owners(api: Api, webhook: FakeWebhook) -> None:
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
    assert [len(review["request"]["objects"]) for review in webhook.asked] == [3]
    table = await api.get(SHIRTS_2, accept=TABLE)
    assert [row["cells"][0] for row in table.body["rows"]] == ["a", "b", "c"]
    await api.get(f"{SHIRTS_2}/b")
    assert len(webhook.asked) == 1


async def test_a_watch_shows_the_other_version(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    async with api.watch(f"{SHIRTS_2}?watch=1") as first, api.watch(f"{SHIRTS_2}?watch=1") as second:
        for watch in (first, second):
            (event,) = await events(watch, 1)
            assert (event["type"], event["object"]["spec"]) == ("ADDED", {"host": "a", "port": "80"})
        webhook.asked.clear()
        await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
        await api.delete(f"{SHIRTS}/a")
        for watch in (first, second):
            changed, deleted = await events(watch, 2)
            assert (changed["type"], changed["object"]["apiVersion"]) == ("MODIFIED", V2)
            assert (deleted["type"], deleted["object"]["apiVersion"]) == ("DELETED", V2)
            assert deleted["object"]["spec"]["host"] == "b"
    assert len(webhook.asked) <= 2


async def test_a_watch_whose_webhook_fails_ends_with_an_error(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    webhook.down = "no one there"
    async with api.watch(f"{SHIRTS_2}?watch=1") as watch:
        (event,) = await events(watch, 1)
        assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
        assert await watch.ended()


@pytest.mark.parametrize("method", ["get", "list", "create", "update", "patch", "delete"])
async def test_when_the_webhook_fails_every_request_in_another_version_fails(
    api: Api, webhook: FakeWebhook, method: str
) -> None:
    await api.create(SHIRTS, one())
    webhook.down = "no one there"
    answer = await {
        "get": lambda: api.get(f"{SHIRTS_2}/a"),
        "list": lambda: api.get(SHIRTS_2),
        "create": lambda: api.post(SHIRTS_2, two("b")),
        "update": lambda: api.put(f"{SHIRTS_2}/a", two()),
        "patch": lambda: api.patch(f"{SHIRTS_2}/a", {"spec": {"host": "b"}}),
        "delete": lambda: api.delete(f"{SHIRTS_2}/a"),
    }[method]()
    assert (answer.code, answer.reason) == (500, "")
    given = "v2" if method == "create" else "v1"
    assert f"conversion webhook for {GROUP}/{given}, Kind=Shirt failed: no one there" in answer.message
    (left,) = (await api.get(SHIRTS)).body["items"]
    assert left["spec"] == {"hostPort": "a:80"}


def response(review: Json) -> Json:
    """The response part of an answer."""
    found: Json = review["response"]
    return found


def first(review: Json) -> Json:
    """The first converted object of an answer."""
    found: Json = response(review)["convertedObjects"][0]
    return found


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        pytest.param(lambda r: r.pop("response"), "failed: no response provided", id="no response"),
        pytest.param(lambda r: response(r).update(uid="x"), 'failed: expected response.uid="', id="uid of the review"),
        pytest.param(
            lambda r: r.update(apiVersion="apiextensions.k8s.io/v1beta1"),
            "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
            id="version of the review",
        ),
        pytest.param(
            lambda r: r.pop("apiVersion"),
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, "
            "Kind=ConversionReview",
            id="type",
        ),
        pytest.param(
            lambda r: response(r).update(result={"status": "Failure", "message": "I will not"}),
            "failed: I will not",
            id="failure",
        ),
        pytest.param(
            lambda r: response(r).update(result={}),
            "failed: response.result.status was '', not 'Success'",
            id="no status",
        ),
        pytest.param(
            lambda r: response(r)["convertedObjects"].pop(), "returned 0 objects, expected 1", id="fewer objects"
        ),
        pytest.param(
            lambda r: first(r).update(apiVersion=V1),
            f"at index 0: invalid groupVersion (expected {V2}, received {V1})",
            id="version",
        ),
        pytest.param(
            lambda r: first(r).update(kind="Trousers"),
            "at index 0: invalid kind (expected Shirt, received Trousers)",
            id="kind",
        ),
        pytest.param(
            lambda r: first(r).pop("metadata"), "invalid object: must have the same name: a != ", id="nothing"
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(name="z"),
            "returned invalid object: must have the same name: a != z",
            id="name",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(uid="z"),
            "returned invalid object: must have the same UID: ",
            id="object uid",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(labels={"a": 1}),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
            id="label type",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(labels={"a b": "c"}),
            'returned invalid metadata: metadata.labels: Invalid value: "a b"',
            id="label",
        ),
    ],
)
async def test_an_answer_that_does_not_count_is_an_error(api: Api, webhook: FakeWebhook, spoil: Any, text: str) -> None:
    await api.create(SHIRTS, one())
    webhook.spoil = spoil
    answer = await api.get(f"{SHIRTS_2}/a")
    assert (answer.code, answer.reason) == (500, "")
    assert f"conversion webhook for {V1}, Kind=Shirt" in answer.message
    assert text in answer.message


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (
            lambda r: first(r)["metadata"].update(name="z"),
            "returned invalid converted object at index 0: must have the same name: a != z",
        ),
        (
            lambda r: first(r)["metadata"].update(labels="x"),
            "returned invalid metadata in object at index 0: "
            "invalid metadata.labels of type string in converted object",
        ),
    ],
    ids=["name", "labels"],
)
async def test_errors_of_lists_say_which_object_it_was(api: Api, webhook: FakeWebhook, spoil: Any, text: str) -> None:
    await api.create(SHIRTS, one())
    webhook.spoil = spoil
    assert (await api.get(SHIRTS_2)).message == f"conversion webhook for {V1}, Kind=Shirt {text}"


async def test_of_the_metadata_only_labels_and_annotations_may_change(api: Api, webhook: FakeWebhook) -> None:
    made = await api.create(SHIRTS, one())

    def spoil(review: Json) -> None:
        metadata = first(review)["metadata"]
        metadata.update(labels={"a": "b"}, annotations={"c": "d"}, finalizers=["x/y"], generation=9)

    webhook.spoil = spoil
    metadata = (await api.get(f"{SHIRTS_2}/a")).metadata
    assert (metadata.pop("labels"), metadata.pop("annotations")) == ({"a": "b"}, {"c": "d"})
    assert metadata == made["metadata"]


async def test_what_the_schema_does_not_know_is_dropped(api: Api, webhook: FakeWebhook) -> None:
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
    webhook.asked.clear()
    found = (await api.get(SHIRTS_2)).body["items"]
    assert [(item["apiVersion"], item["spec"]["host"]) for item in found] == [(V2, "a"), (V2, "b")]
    assert [obj["metadata"]["name"] for obj in webhook.asked[0]["request"]["objects"]] == ["a"]
    found = (await api.get(SHIRTS)).body["items"]
    assert [(item["apiVersion"], item["spec"]["hostPort"]) for item in found] == [(V1, "a:80"), (V1, "b:80")]
    assert (await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "c:80"}})).code == 200
    webhook.asked.clear()
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"]["host"] == "c"
    assert webhook.asked == []


@pytest.mark.parametrize(
    ("review_versions", "used"),
    [(["v1beta1", "v1"], "v1beta1"), (["v9", "v1"], "v1")],
    ids=["the first", "the first that is known"],
)
async def test_reviews_are_in_a_version_that_the_webhook_accepts(review_versions: list[str], used: str) -> None:
    async with served() as api:
        fake = FakeWebhook()
        api.cluster.connect = fake.connect
        await api.create(CRDS, defined(review_versions=review_versions))
        await api.create(SHIRTS_2, two())
        assert {review["apiVersion"] for review in fake.asked} == {f"apiextensions.k8s.io/{used}"}


async def test_a_crd_goes_with_its_objects_while_the_webhook_is_down(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    webhook.down = "no one there"
    await api.delete(CRD)
    await eventually(lambda: api.get(CRD), lambda answer: answer.code == 404)


async def test_versions_are_converted_after_a_restart() -> None:
    store, fake = MemoryStore(), FakeWebhook()
    async with served(store) as api:
        api.cluster.connect = fake.connect
        await api.create(CRDS, defined())
        await api.create(SHIRTS, one())
    async with served(store) as api:
        answer = await api.get(f"{SHIRTS_2}/a")
        assert answer.code == 500
        text = 'Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
        assert text in answer.message


async def test_the_rules_of_the_requests_version_hold(api: Api, webhook: FakeWebhook) -> None:
    answer = await api.post(SHIRTS_2, shirt("a", {"host": 1}, api="v2"))
    assert (answer.code, messages(answer)) == (
        422,
        ['spec.host: Invalid value: "integer": spec.host in body must be of type string: "integer"'],
    )
    assert webhook.asked == []


async def test_a_webhook_is_asked_over_tls(api: Api, tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, body in requests(reader):
            writer.write(ok(orjson.dumps(reviewed(body))))

    async with listening(tmp_path, handle) as port:
        await api.create(CRDS, defined(url=f"https://127.0.0.1:{port}/convert", caBundle=bundle()))
        await api.create(SHIRTS_2, two())
        assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"hostPort": "a:80"}
        assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"host": "a", "port": "80"}
