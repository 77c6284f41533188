"""Objects are converted to the other versions when they change, so their lists need no webhook."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sampan.registry.crd import converted_ahead
from tests.server.cluster import Api
from tests.server.conversion_webhook import SHIRTS_2, V2, FakeWebhook, Json, defined
from tests.server.custom_resources import CRD, CRDS, SHIRTS, change, crd, shirt
from tests.server.verbs.conftest import api

__all__ = ["api"]


@pytest.fixture
async def webhook(api: Api, monkeypatch: pytest.MonkeyPatch) -> FakeWebhook:
    """The webhook of shirts, which are defined."""
    monkeypatch.setattr(converted_ahead, "PAUSE_S", 0.01)
    fake = FakeWebhook()
    api.connections.connect = fake.connect
    await api.create(CRDS, defined())
    return fake


def one(name: str = "a", host_port: str = "a:80") -> Json:
    """A shirt of v1."""
    return shirt(name, {"hostPort": host_port})


def converts_for(webhook: FakeWebhook, *host_ports: str) -> Callable[[], bool]:
    """Return whether reviews had these values, in any order."""

    def is_converted() -> bool:
        found = {obj["spec"]["hostPort"] for review in webhook.requested for obj in review["request"]["objects"]}
        return found >= set(host_ports)

    return is_converted


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


async def test_an_object_that_no_list_has_shown_is_listed_while_the_webhook_is_down(
    api: Api, webhook: FakeWebhook
) -> None:
    await api.create(SHIRTS, one("a", "a:80"))
    await api.create(SHIRTS, one("b", "b:80"))
    await until(converts_for(webhook, "a:80", "b:80"))
    webhook.down = "gone"
    webhook.requested.clear()
    found = await api.get(SHIRTS_2)
    assert [(item["apiVersion"], item["spec"]["host"]) for item in found.body["items"]] == [(V2, "a"), (V2, "b")]
    assert webhook.requested == []


async def test_the_newest_state_is_listed(api: Api, webhook: FakeWebhook) -> None:
    await api.create(SHIRTS, one())
    await api.patch(f"{SHIRTS}/a", {"spec": {"hostPort": "b:80"}})
    await until(converts_for(webhook, "b:80"))
    webhook.down = "gone"
    assert (await api.get(SHIRTS_2)).body["items"][0]["spec"]["host"] == "b"


async def test_changes_at_the_same_time_share_a_review(
    api: Api, webhook: FakeWebhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_ahead, "PAUSE_S", 0.3)
    for number in range(20):
        await api.create(SHIRTS, one(f"a{number}", f"{number}:80"))
    await until(converts_for(webhook, *(f"{number}:80" for number in range(20))))
    assert len(webhook.requested) <= 3


async def test_what_a_webhook_could_not_convert_is_converted_when_it_is_back(api: Api, webhook: FakeWebhook) -> None:
    webhook.down, webhook.back_after = "gone", 2
    await api.create(SHIRTS, one())
    await until(lambda: len(webhook.requested) >= 2)
    webhook.down = "gone"
    webhook.back_after = 10**9
    assert (await api.get(SHIRTS_2)).code == 200


async def test_a_deleted_object_is_not_converted(api: Api, webhook: FakeWebhook) -> None:
    webhook.down = "gone"
    await api.create(SHIRTS, one())
    await until(lambda: bool(webhook.requested))
    await api.delete(f"{SHIRTS}/a")
    webhook.down = ""
    webhook.requested.clear()
    await api.create(SHIRTS, one("b", "b:80"))
    await until(converts_for(webhook, "b:80"))
    assert not converts_for(webhook, "a:80")()


async def test_more_than_the_cache_holds_is_not_converted(
    api: Api, webhook: FakeWebhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampan.registry.cluster.CACHE_BYTES_MAX", 1000)

    def accept_both(body: Any) -> None:
        body["spec"]["conversion"]["webhook"]["conversionReviewVersions"] = ["v1", "v1beta1"]

    assert (await change(api, accept_both)).code == 200
    await api.create(SHIRTS, one("a", "a" * 1000))
    await api.create(SHIRTS, one("b", "b:80"))
    assert (await api.get(SHIRTS_2)).code == 200
    assert [len(review["request"]["objects"]) for review in webhook.requested] == [2]


async def test_without_another_version_or_a_webhook_there_is_no_task(api: Api, webhook: FakeWebhook) -> None:
    cluster = api.cluster
    assert list(cluster._ahead) == ["/registry/stable.example.com/shirts/"]
    await api.create(CRDS, crd(names={"plural": "hats", "kind": "Hat"}))
    assert len(cluster._ahead) == 1
    await api.delete(CRD)
    await until(lambda: not cluster._ahead)
