"""Checks of large writes run in threads, while CRDs, policies, webhooks and namespaces change on the event loop."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import orjson
import pytest

from sampan.core.errors import StatusError
from sampan.core.event_loop.offload import LARGE_BYTES
from sampan.registry.strategy import Context
from sampan.registry.write.own import create, update
from sampan.storage.store import prefix_end
from tests.server.admission.policy.policies import GROUP, MAPS, binding, config_map, enforce, failing, validating
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRD, CRDS, SHIRTS, crd, schema, shirt, version
from tests.server.custom_resources import GROUP as CRD_GROUP

WRITERS = 4
REPEATS = 3
DEADLINE_S = 60.0
WEBHOOKS = f"{GROUP}/validatingwebhookconfigurations"
POLICIES, BINDINGS = f"{GROUP}/validatingadmissionpolicies", f"{GROUP}/validatingadmissionpolicybindings"
LINES = {"type": "array", "items": {"type": "string", "maxLength": 100}}
EXPRESSION = "namespaceObject.metadata.labels.?level.orValue('0') != '1' && object.data.all(k, k != '')"
RESPONSES = {200, 201, 404, 409, 422}
"""404 for an object that is not there yet, 409 for one that another writer has made, 422 for what a policy denies."""


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        await api.create(CRDS, crd(version(openapi=shirts(0))))
        yield api


def shirts(number: int) -> dict[str, Any]:
    """Return a schema. Those of even and odd numbers differ in a rule and in a default."""
    rule = {"rule": f"self.lines.size() > {number % 2}"}
    spec = {"lines": LINES, "fit": {"type": "string", "default": f"fit-{number % 2}"}}
    made = schema(spec)
    made["properties"]["spec"]["x-kubernetes-validations"] = [rule]
    return made


def large(count: int = 1500) -> list[str]:
    lines = [f"line {number} of a large object" for number in range(count)]
    assert sum(map(len, lines)) > LARGE_BYTES
    return lines


async def change_crd(api: Api, number: int) -> int:
    shown = await api.get(CRD)
    shown.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = shirts(number)
    return (await api.put(CRD, shown.body)).code


async def delete_crd(api: Api) -> None:
    await api.delete(CRD)
    async with asyncio.timeout(DEADLINE_S):
        while (await api.get(SHIRTS)).code != 404:  # noqa: ASYNC110  # nothing notifies clients of the end of a path
            await asyncio.sleep(0.01)


async def change_policy(api: Api, number: int) -> int:
    if number % 2:
        await api.delete(f"{BINDINGS}/b")
        return (await api.delete(f"{POLICIES}/p")).code
    await enforce(api, validating(validations=[failing(EXPRESSION)]), binding())
    return 201


async def change_webhook(api: Api, number: int) -> int:
    if number % 2:
        return (await api.delete(f"{WEBHOOKS}/w")).code
    rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps", "shirts"]}]
    webhook = {
        "name": "w.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "failurePolicy": "Ignore",
        "rules": rules,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return (await api.post(WEBHOOKS, {"metadata": {"name": "w"}, "webhooks": [webhook]})).code


async def change_namespace(api: Api, number: int) -> int:
    labels = {"metadata": {"labels": {"level": str(number % 2), f"label-{number}": "x"}}}
    return (await api.patch("/api/v1/namespaces/default", labels)).code


async def write_maps(api: Api, number: int, writer: int) -> list[int]:
    data = {f"key-{index}": line for index, line in enumerate(large())}
    name = f"map-{writer}"
    codes = [(await api.post(MAPS, config_map(name, data=data))).code]
    codes.append((await api.patch(f"{MAPS}/{name}", {"data": {"more": str(number)}})).code)
    codes.append((await api.apply(f"{MAPS}/{name}", config_map(name, data=data), "fieldManager=a&force=true")).code)
    return [*codes, (await api.delete(f"{MAPS}/{name}")).code]


async def write_shirts(api: Api, number: int, writer: int) -> list[int]:
    name = f"shirt-{writer}"
    created = await api.post(SHIRTS, shirt(name, {"lines": large()}))
    return [created.code, (await api.patch(f"{SHIRTS}/{name}", {"spec": {"lines": large(1600)}})).code]


async def test_write_in_progress_survives_changes_of_its_crd(api: Api) -> None:
    await api.create(SHIRTS, shirt("a", {"lines": large()}))
    old = api.cluster.endpoint(CRD_GROUP, "v1", "shirts")
    assert old is not None
    for number in range(1, 3):
        assert await change_crd(api, number) == 200
    assert old.store.cache is not api.cluster.caches[old.store.prefix]
    patched = await api.patch(f"{SHIRTS}/a", {"metadata": {"labels": {"new": "yes"}}})
    ctx = Context(namespace="default", name="a")
    unchanged = await update(old.store, ctx, lambda obj, stored: None, api.cluster.clock)
    assert orjson.loads(unchanged) == patched.body
    with pytest.raises(StatusError, match="not found"):
        await update(old.store, msgspec.structs.replace(ctx, name="b"), lambda obj, stored: None, api.cluster.clock)


async def test_get_in_progress_survives_a_change_of_its_crd(api: Api) -> None:
    await api.create(SHIRTS, shirt("a", {"lines": large()}))
    old = api.cluster.endpoint(CRD_GROUP, "v1", "shirts")
    assert old is not None
    assert await change_crd(api, 1) == 200
    patched = await api.patch(f"{SHIRTS}/a", {"metadata": {"labels": {"new": "yes"}}})
    assert orjson.loads((await old.store.record("default", "a")).value) == patched.body


async def begun(api: Api, monkeypatch: pytest.MonkeyPatch, then: Awaitable[object]) -> None:
    """Let all further requests of shirts be such that began before `then` happened: they use the endpoint of then."""
    endpoint_of = api.cluster.endpoint
    old = endpoint_of(CRD_GROUP, "v1", "shirts")
    await then
    await asyncio.sleep(0)  # ends the task of the old cache
    monkeypatch.setattr(api.cluster, "endpoint", lambda *key: old if key[0] == CRD_GROUP else endpoint_of(*key))


async def test_lists_and_watches_in_progress_survive_a_change_of_their_crd(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.create(SHIRTS, shirt("a", {"lines": large()}))
    await begun(api, monkeypatch, change_crd(api, 1))
    version = (await api.get("/api/v1/namespaces/default")).body["metadata"]["resourceVersion"]
    for query in ("", "?limit=1", f"?resourceVersion={version}", "?resourceVersion=0"):
        listed = await api.get(f"{SHIRTS}{query}")
        assert (listed.code, len(listed.body["items"])) == (200, 1), query
    async with api.watch(f"{SHIRTS}?watch=1") as watch:
        assert (await watch.event())["type"] == "ADDED"


async def test_requests_in_progress_whose_crd_is_deleted_find_nothing(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(api, monkeypatch, delete_crd(api))
    await api.create(MAPS, config_map("later"))
    codes = [(await api.get(f"{SHIRTS}{path}")).code for path in ("", "/a", "?watch=1", "?watch=1&resourceVersion=1")]
    codes.append((await api.put(f"{SHIRTS}/a", shirt("a", {"lines": large()}))).code)
    codes.append((await api.patch(f"{SHIRTS}/a", {"metadata": {"labels": {"new": "yes"}}})).code)
    codes.append((await api.delete(f"{SHIRTS}/a")).code)
    assert codes == [404] * 7
    old = api.cluster.endpoint(CRD_GROUP, "v1", "shirts")
    assert old is not None
    with pytest.raises(StatusError, match="not found"):
        await create(old.store, Context(namespace="default"), shirt(), api.cluster.clock)
    assert (await api.cluster.store.range(old.store.prefix, prefix_end(old.store.prefix))).items == []


Change = Callable[[Api, int], Awaitable[int]]


async def test_large_writes_during_changes_of_their_rules_succeed(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    codes: list[int] = []
    done = 0

    async def keep_writing(write: Callable[[Api, int, int], Awaitable[list[int]]], writer: int) -> None:
        nonlocal done
        for number in range(REPEATS):
            codes.extend(await write(api, number, writer))
        done += 1

    async def keep_changing(change: Change) -> None:
        number = 0
        while done < WRITERS:
            codes.append(await change(api, number))
            number += 1
            # Requests to the store in memory do not yield. A write starts again after each change of its CRD.
            await asyncio.sleep(0.3 if change is change_crd else 0.005)

    with caplog.at_level(logging.ERROR):
        async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(keep_writing(write_maps if writer % 2 else write_shirts, writer))
            for change in (change_crd, change_policy, change_webhook, change_namespace):
                group.create_task(keep_changing(change))
    assert set(codes) <= RESPONSES
    assert {200, 201} <= set(codes)
    assert not caplog.records
    for listed in (await api.get(SHIRTS)).body["items"]:
        assert listed["spec"]["fit"] in ("fit-0", "fit-1")
        assert len(listed["spec"]["lines"]) in (1500, 1600)
