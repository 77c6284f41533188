"""The life of a CRD: served, changed, deleted with its objects, restarted in the middle (F6, F7, F36, F37)."""

import asyncio
import logging
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.store import FutureRevision
from tests.server.cluster import Api, served
from tests.server.custom_resources import (
    CRD,
    CRDS,
    GROUP,
    SHIRTS,
    change,
    condition,
    crd,
    define,
    eventually,
    schema,
    shirt,
    version,
)
from tests.server.verbs.conftest import api

__all__ = ["api"]


async def gone(api: Api, path: str = CRD) -> None:
    """Wait until something is no longer there."""
    await eventually(lambda: api.get(path), lambda response: response.code == 404)


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return the warnings, without those of requests that succeeded but were slow: a busy machine is slow."""
    found = [record for record in caplog.records if record.levelno >= logging.WARNING]
    return [record for record in found if getattr(record, "code", 500) >= 500]


async def test_deleting_a_crd_deletes_its_objects_and_then_itself(api: Api) -> None:
    await define(api)
    for name in ("a", "b", "c"):
        await api.create(SHIRTS, shirt(name))
    async with api.watch(f"{SHIRTS}?watch=1") as watch:
        await watch.events(3)
        response = await api.delete(CRD)
        assert (response.code, condition(response.body, "Terminating")["reason"]) == (200, "InstanceDeletionPending")
        assert response.metadata["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert sorted(await watch.events(3)) == [("DELETED", "a"), ("DELETED", "b"), ("DELETED", "c")]
        assert await watch.ended()
    await gone(api)
    assert (await api.get(SHIRTS)).code == 404


async def test_a_client_that_finds_a_crd_gone_finds_its_resource_gone(api: Api) -> None:
    for _ in range(5):
        await define(api)
        await api.create(SHIRTS, shirt())
        await api.delete(CRD)
        while (await api.get(CRD)).code != 404:  # noqa: ASYNC110 - a client that asks as often as it can
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # as the next request of anybody comes through the loop
        assert (await api.get(f"/apis/{GROUP}/v1")).code == 404
        assert (await api.get(SHIRTS)).code == 404


async def test_a_crd_that_is_deleted_is_marked_and_no_more(api: Api) -> None:
    await define(api)
    metadata = (await api.delete(f"{CRD}?propagationPolicy=Foreground")).metadata
    assert metadata["deletionTimestamp"]
    assert "deletionGracePeriodSeconds" not in metadata
    assert metadata["generation"] == 1
    assert metadata["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]


async def test_a_status_written_by_the_server_is_managed_by_kube_apiserver(api: Api) -> None:
    await define(api)
    entries = (await api.get(CRD)).metadata["managedFields"]
    (servers,) = [entry for entry in entries if "subresource" in entry]
    assert (servers["manager"], servers["operation"], servers["subresource"], servers["apiVersion"]) == (
        "kube-apiserver",
        "Update",
        "status",
        "apiextensions.k8s.io/v1",
    )
    owned = servers["fieldsV1"]["f:status"]
    assert owned["f:acceptedNames"] == {"f:kind": {}, "f:listKind": {}, "f:plural": {}, "f:singular": {}}
    assert {'k:{"type":"Established"}', 'k:{"type":"NamesAccepted"}'} <= owned["f:conditions"].keys()


async def terminating(api: Api) -> None:
    """Wait until the deletion of the objects has begun."""
    await eventually(
        lambda: api.get(CRD), lambda response: condition(response.body, "Terminating").get("status") == "True"
    )


async def test_a_crd_with_another_finalizer_is_terminating_and_then_takes_objects_again(api: Api) -> None:
    body = crd(version("v1"))
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(CRDS, body)
    await api.create(SHIRTS, shirt("a"))
    await api.delete(CRD)
    await terminating(api)
    assert (await api.post(SHIRTS, shirt("late"))).code == 403
    done = await eventually(
        lambda: api.get(CRD), lambda response: condition(response.body, "Terminating").get("status") == "False"
    )
    assert condition(done.body, "Terminating")["reason"] == "InstanceDeletionCompleted"
    assert done.metadata["finalizers"] == ["example.com/hold"]
    assert (await eventually(lambda: api.post(SHIRTS, shirt("b")), lambda response: response.code != 403)).code == 201
    assert (await api.get(f"/apis/{GROUP}/v1")).body["resources"][0]["verbs"].count("create") == 1
    assert (await api.get(f"{SHIRTS}/a")).code == 404


async def test_while_a_crd_is_terminating_objects_may_be_read_and_changed_but_not_created(api: Api) -> None:
    await define(api)
    held = shirt("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(SHIRTS, held)
    await api.delete(CRD)
    await terminating(api)
    refused = await api.post(SHIRTS, shirt("late"))
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert "create not allowed while custom resource definition is terminating" in refused.message
    observed = await eventually(
        lambda: api.get(f"{SHIRTS}/held"), lambda response: "deletionTimestamp" in response.metadata
    )
    assert observed.code == 200
    assert condition((await api.get(CRD)).body, "Terminating")["reason"] == "InstanceDeletionInProgress"
    await api.patch(f"{SHIRTS}/held", {"metadata": {"finalizers": None}})
    await gone(api)


async def test_deletion_goes_on_after_a_restart() -> None:
    store = MemoryStore()
    async with served(store) as api:
        await define(api)
        held = shirt("held")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        await api.create(SHIRTS, held)
        await api.delete(CRD)
    async with served(store) as api:
        assert (await api.post(SHIRTS, shirt("late"))).code == 403
        await api.patch(f"{SHIRTS}/held", {"metadata": {"finalizers": None}})
        await gone(api)


async def test_an_established_crd_is_served_right_after_a_restart() -> None:
    store = MemoryStore()
    async with served(store) as api:
        await define(api)
        await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    async with served(store) as api:
        assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"color": "blue"}


async def test_a_crd_of_the_same_name_can_be_created_again_and_sees_no_old_objects(api: Api) -> None:
    for _ in range(3):
        await define(api)
        assert (await api.get(SHIRTS)).body["items"] == []
        await api.create(SHIRTS, shirt("a"))
        await api.delete(CRD)
        await gone(api)


async def test_a_crd_that_was_never_established_goes_at_once(api: Api) -> None:
    await define(api)
    await api.create(CRDS, crd(names={"plural": "blouses", "kind": "Shirt"}))
    await api.delete(f"{CRDS}/blouses.{GROUP}")
    await gone(api, f"{CRDS}/blouses.{GROUP}")
    assert (await api.get(SHIRTS)).code == 200


async def test_objects_that_another_server_is_done_with_sooner_are_no_warning(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await define(api)
    prefix = f"/registry/{GROUP}/shirts/"
    cache = api.server.cluster.caches[prefix]

    async def fresh() -> None:
        await api.server.cluster.stop_serving(GROUP, "shirts", prefix)
        raise FutureRevision(7, 6)

    monkeypatch.setattr(cache, "fresh", fresh)
    await api.delete(CRD)
    await gone(api)
    assert warnings(caplog) == []


async def test_an_object_that_goes_while_another_server_ends_its_crd_is_no_warning(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await define(api)
    await api.create(SHIRTS, shirt())

    async def delete(*_: object) -> None:
        await api.server.cluster.stop_serving(GROUP, "shirts", f"/registry/{GROUP}/shirts/")
        raise FutureRevision(7, 6)

    monkeypatch.setattr("sampan.registry.crd_controller.cleanup.delete", delete)
    await api.delete(CRD)
    await gone(api)
    assert warnings(caplog) == []


async def test_another_finalizer_keeps_the_crd_but_not_its_objects(api: Api) -> None:
    await define(api)
    await change(api, lambda obj: obj["metadata"].update(finalizers=["example.com/hold"]))
    await api.create(SHIRTS, shirt("a"))
    await api.delete(CRD)
    await eventually(lambda: api.get(CRD), lambda response: response.metadata["finalizers"] == ["example.com/hold"])
    assert (await api.get(SHIRTS)).body["items"] == []
    await change(api, lambda obj: obj["metadata"].pop("finalizers"))
    await gone(api)


async def test_many_objects_in_many_namespaces_go(api: Api) -> None:
    await define(api)
    for number in range(3):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{number}"}}
        await api.create("/api/v1/namespaces", namespace)
        for index in range(50):
            await api.create(SHIRTS.replace("default", f"n{number}"), shirt(f"s{index}"))
    await api.delete(CRD)
    await gone(api)
    await define(api)
    assert (await api.get(f"/apis/{GROUP}/v1/shirts")).body["items"] == []


async def test_a_wrong_scope_version_or_subresource_is_not_found(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False) | {"served": False}))
    for path in (
        f"/apis/{GROUP}/v1/shirts/a",
        f"/apis/{GROUP}/v2/namespaces/default/shirts",
        f"/apis/{GROUP}/v3/shirts",
    ):
        response = await api.get(path)
        assert (response.code, response.body) == (404, b"404 page not found\n"), path
    await api.create(SHIRTS, shirt("a"))
    response = await api.get(f"{SHIRTS}/a/status")
    assert (response.code, response.message) == (404, f'shirts.{GROUP} "a" not found')


async def test_cluster_scoped_resources_have_no_namespace(api: Api) -> None:
    await api.create(CRDS, crd(scope="Cluster"))
    await api.create(f"/apis/{GROUP}/v1/shirts", shirt("a"))
    assert (await api.get(f"/apis/{GROUP}/v1/shirts/a")).code == 200
    assert (await api.get(SHIRTS)).code == 404
    response = await api.get(f"/apis/{GROUP}/v1/shirts?fieldSelector=metadata.namespace=x")
    assert (response.code, response.message) == (400, "field label not supported: metadata.namespace")


async def test_a_version_that_is_served_no_longer_is_not_found_at_once(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    assert (await api.get(f"/apis/{GROUP}/v2/shirts")).code == 200
    await change(api, lambda obj: obj["spec"]["versions"][1].update(served=False))
    assert (await api.get(f"/apis/{GROUP}/v2/shirts")).code == 404


async def test_a_new_schema_takes_effect_with_the_next_request_and_ends_running_watches(api: Api) -> None:
    await define(api)
    async with api.watch(f"{SHIRTS}?watch=1") as watch:
        await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", required("color"))))
        assert await watch.ended()
    response = await api.post(SHIRTS, shirt("a", {}))
    assert (response.code, response.causes[0]["field"]) == (422, "spec.color")


def required(name: str) -> Any:
    """A schema whose spec needs a field."""
    openapi = schema({name: {"type": "string"}})
    openapi["properties"]["spec"]["required"] = [name]
    return openapi


async def test_a_change_of_labels_alone_ends_no_watch(api: Api) -> None:
    await define(api)
    async with api.watch(f"{SHIRTS}?watch=1") as watch:
        await change(api, lambda obj: obj["metadata"].update(labels={"a": "b"}))
        await api.create(SHIRTS, shirt("a"))
        assert (await watch.event())["object"]["metadata"]["name"] == "a"


async def test_clients_resume_their_watch_after_a_change(api: Api) -> None:
    await define(api)
    first = await api.create(SHIRTS, shirt("a"))
    await change(api, lambda obj: obj["spec"]["versions"][0].update(version("v1", schema({"a": {"type": "string"}}))))
    await api.create(SHIRTS, shirt("b"))
    path = f"{SHIRTS}?watch=1&resourceVersion={first['metadata']['resourceVersion']}"
    async with api.watch(path) as watch:
        assert await watch.events(1) == [("ADDED", "b")]


async def test_discovery_offers_no_changes_of_what_is_terminating(api: Api) -> None:
    await define(api)
    held = shirt("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(SHIRTS, held)
    await api.delete(CRD)
    await terminating(api)
    found = (await api.get(f"/apis/{GROUP}/v1")).body["resources"][0]
    assert found["verbs"] == ["delete", "deletecollection", "get", "list", "watch"]
    await api.patch(f"{SHIRTS}/held", {"metadata": {"finalizers": None}})
    await gone(api)
