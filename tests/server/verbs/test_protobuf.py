"""Requests and answers in protobuf: bodies, objects, lists, watches, metadata alone, refusals."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.wire import yaml
from sampan.wire.protobuf import decode, encode
from tests.server.cluster import Api, ApiResponse
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    PODS,
    WIDGETS,
    config_map,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)

PROTOBUF = "application/vnd.kubernetes.protobuf"
TYPED = f"{PROTOBUF},application/json"
PARTIAL = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIAL_LIST = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def read(response: ApiResponse) -> dict[str, Any]:
    """The object of an answer in protobuf."""
    assert response.response.content_type == PROTOBUF
    return decode(response.body)


async def post(api: Api, target: str, obj: dict[str, Any], accept: str = TYPED) -> ApiResponse:
    """POST as the typed clients do."""
    return await api.fetch("POST", target, encode(obj), content_type=PROTOBUF, accept=accept)


async def test_create_in_protobuf_is_as_in_json(api: Api) -> None:
    response = await post(api, PODS, pod())
    assert response.code == 201
    assert read(response) == (await api.get(f"{PODS}/p")).body


async def test_update_in_protobuf(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    body = encode({**created, "data": {"k": "w"}})
    response = await api.fetch("PUT", f"{CONFIG_MAPS}/a", body, content_type=PROTOBUF, accept=TYPED)
    assert (response.code, read(response)["data"]) == (200, {"k": "w"})


async def test_get_and_patch_return_protobuf(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    patched = read(await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "y"}}, accept=TYPED))
    assert read(await api.get(f"{CONFIG_MAPS}/a", accept=TYPED)) == patched
    assert patched["data"] == {"k": "v", "x": "y"}


async def test_list_in_protobuf_is_as_in_json(api: Api) -> None:
    await some_config_maps(api, 3)
    assert read(await api.get(CONFIG_MAPS, accept=TYPED)) == (await api.get(CONFIG_MAPS)).body


async def test_list_in_protobuf_sees_what_was_written_since(api: Api) -> None:
    await some_config_maps(api, 2)
    await api.get(CONFIG_MAPS, accept=TYPED)
    await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "y"}})
    await api.create(CONFIG_MAPS, config_map("z"))
    assert read(await api.get(CONFIG_MAPS, accept=TYPED)) == (await api.get(CONFIG_MAPS)).body


async def test_pages_in_protobuf_continue(api: Api) -> None:
    await some_config_maps(api, 3)
    first = read(await api.get(f"{CONFIG_MAPS}?limit=2", accept=TYPED))
    assert (len(first["items"]), first["metadata"]["remainingItemCount"]) == (2, 1)
    rest = read(await api.get(f"{CONFIG_MAPS}?limit=2&continue={first['metadata']['continue']}", accept=TYPED))
    assert len(rest["items"]) == 1


async def test_an_empty_list_in_protobuf(api: Api) -> None:
    listed = read(await api.get(PODS, accept=TYPED))
    assert (listed["kind"], listed["items"]) == ("PodList", None)


async def test_metadata_alone(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    partial = read(await api.get(f"{CONFIG_MAPS}/a", accept=PARTIAL))
    assert partial == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created["metadata"],
    }
    listed = read(await api.get(CONFIG_MAPS, accept=PARTIAL_LIST))
    assert (listed["kind"], listed["items"]) == ("PartialObjectMetadataList", [{"metadata": created["metadata"]}])


def in_meta_v1beta1(accept: str) -> str:
    """Return the Accept header for metadata in the older version."""
    return accept.replace("v=v1", "v=v1beta1")


async def test_metadata_alone_in_its_older_version(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    partial = read(await api.get(f"{CONFIG_MAPS}/a", accept=in_meta_v1beta1(PARTIAL)))
    assert (partial["kind"], partial["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1beta1")
    assert partial["metadata"] == created["metadata"]
    listed = read(await api.get(CONFIG_MAPS, accept=in_meta_v1beta1(PARTIAL_LIST)))
    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1beta1")
    assert listed["metadata"] == (await api.get(CONFIG_MAPS)).body["metadata"]
    assert listed["items"] == [{"metadata": created["metadata"]}]


async def test_metadata_of_custom_resources_in_its_older_version(api: Api) -> None:
    await with_widgets(api)
    created = await api.create(WIDGETS, widget())
    listed = read(await api.get(WIDGETS, accept=in_meta_v1beta1(PARTIAL_LIST)))
    assert listed["items"] == [{"metadata": created["metadata"]}]


async def test_watch_of_metadata_in_its_older_version(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"{CONFIG_MAPS}?{query}", accept=in_meta_v1beta1(PARTIAL)) as watch:
        assert watch.response.stream is not None
        events = await frames(watch.response.stream, 2)
    assert [(event["type"], event["object"]["apiVersion"]) for event in events] == [
        ("ADDED", "meta.k8s.io/v1beta1"),
        ("BOOKMARK", "meta.k8s.io/v1beta1"),
    ]


@pytest.mark.parametrize("transform", ["Table", "PartialObjectMetadata"])
async def test_the_older_version_is_named_in_json_too(api: Api, transform: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    accept = f"application/json;as={transform};g=meta.k8s.io;v=v1beta1"
    version = "meta.k8s.io/v1beta1"
    one = (await api.get(f"{CONFIG_MAPS}/a", accept=accept)).body
    assert (one["kind"], one["apiVersion"]) == (transform, version)
    listed = await api.get(CONFIG_MAPS, accept=accept.replace("ObjectMetadata", "ObjectMetadataList"))
    assert listed.body["apiVersion"] == version
    members = [row["object"] for row in listed.body["rows"]] if transform == "Table" else listed.body["items"]
    assert [(member["kind"], member["apiVersion"]) for member in members] == [("PartialObjectMetadata", version)]
    async with api.watch(f"{CONFIG_MAPS}?watch=true", accept=accept) as watch:
        event = await watch.event()
    assert (event["object"]["kind"], event["object"]["apiVersion"]) == (transform, version)


async def test_delete_takes_options_and_returns_a_status(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    refused = await api.fetch("DELETE", f"{CONFIG_MAPS}/a", encode(options), content_type=PROTOBUF, accept=TYPED)
    assert refused.code == 409
    options["preconditions"] = {"uid": created["metadata"]["uid"]}
    response = await api.fetch("DELETE", f"{CONFIG_MAPS}/a", encode(options), content_type=PROTOBUF, accept=TYPED)
    assert (read(response)["kind"], read(response)["status"]) == ("Status", "Success")


async def test_deletecollection_returns_protobuf(api: Api) -> None:
    await some_config_maps(api, 2)
    listed = read(await api.delete(CONFIG_MAPS, accept=TYPED))
    assert (listed["kind"], len(listed["items"])) == ("ConfigMapList", 2)


async def test_scale_in_protobuf(api: Api) -> None:
    await api.create(
        "/api/v1/namespaces/default/replicationcontrollers",
        {
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": {"name": "r"},
            "spec": {
                "replicas": 2,
                "selector": {"a": "b"},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            },
        },
    )
    target = "/api/v1/namespaces/default/replicationcontrollers/r/scale"
    scale = read(await api.get(target, accept=TYPED))
    assert scale["spec"] == {"replicas": 2}
    scale["spec"] = {"replicas": 5}
    response = await api.fetch("PUT", target, encode(scale), content_type=PROTOBUF, accept=TYPED)
    assert read(response)["spec"] == {"replicas": 5}


async def frames(stream: AsyncIterator[bytes], count: int) -> list[dict[str, Any]]:
    """The next events of a watch, with their objects decoded."""
    found: list[dict[str, Any]] = []
    buffer = b""
    async with asyncio.timeout(60):
        while len(found) < count:
            while len(buffer) < 4 or len(buffer) < 4 + int.from_bytes(buffer[:4], "big"):
                buffer += await anext(stream)
            size = int.from_bytes(buffer[:4], "big")
            found.append(event_of(buffer[4 : 4 + size]))
            buffer = buffer[4 + size :]
    return found


def event_of(frame: bytes) -> dict[str, Any]:
    """The type and the object of a frame: field 1 is the type, field 2 a message around the object's envelope."""
    size = frame[1]
    return {"type": frame[2 : 2 + size].decode(), "object": decode(frame[frame.index(b"k8s\0") :])}


async def test_watch_in_protobuf(api: Api) -> None:
    first = await api.create(CONFIG_MAPS, config_map())
    async with api.watch(f"{CONFIG_MAPS}?watch=true", accept=TYPED) as watch:
        assert watch.response.content_type == f"{PROTOBUF};stream=watch"
        stream = watch.response.stream
        assert stream is not None
        assert await frames(stream, 1) == [{"type": "ADDED", "object": first}]
        changed = (await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "y"}})).body
        assert await frames(stream, 1) == [{"type": "MODIFIED", "object": changed}]
        await api.delete(f"{CONFIG_MAPS}/a")
        assert [event["type"] for event in await frames(stream, 1)] == ["DELETED"]


async def test_watch_of_metadata_with_the_initial_bookmark(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, config_map())
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api.watch(f"{CONFIG_MAPS}?{query}", accept=PARTIAL) as watch:
        assert watch.response.stream is not None
        added, bookmark = await frames(watch.response.stream, 2)
    assert added["object"]["metadata"] == created["metadata"]
    assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "PartialObjectMetadata")
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_errors_come_in_protobuf(api: Api) -> None:
    response = await api.get(f"{CONFIG_MAPS}/none", accept=TYPED)
    assert (response.code, read(response)) == (404, (await api.get(f"{CONFIG_MAPS}/none")).body)


async def test_errors_come_in_the_form_that_is_preferred(api: Api) -> None:
    response = await api.get(f"{CONFIG_MAPS}/none", accept=f"{PROTOBUF};q=0.5,application/yaml")
    assert (response.code, response.response.content_type) == (404, "application/yaml")
    assert yaml.decode(response.body)["reason"] == "NotFound"


@pytest.mark.parametrize("accept", ["text/html", f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"])
async def test_errors_are_json_for_clients_that_accept_nothing_else(api: Api, accept: str) -> None:
    response = await api.get(CONFIG_MAPS, accept=accept)
    assert (response.code, response.reason, response.response.content_type) == (
        406,
        "NotAcceptable",
        "application/json",
    )


@pytest.mark.parametrize("body", [b"", b"{}", b"k8s\0", b"k8s\0\x0a\xff", encode(pod())[:40]])
async def test_malformed_bodies_are_bad_requests(api: Api, body: bytes) -> None:
    response = await api.fetch("POST", PODS, body or b" ", content_type=PROTOBUF)
    assert (response.code, response.reason) == (400, "BadRequest")


async def test_another_kind_is_a_bad_request(api: Api) -> None:
    assert (await post(api, PODS, config_map())).code == 400


async def test_a_table_in_protobuf_is_not_acceptable(api: Api) -> None:
    assert (await api.get(PODS, accept=f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1")).code == 406


async def test_custom_resources_have_no_protobuf_form(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    assert (await api.get(f"{WIDGETS}/w", accept=PROTOBUF)).code == 406
    assert (await api.get(WIDGETS, accept=PROTOBUF)).code == 406
    assert (await api.get(f"{WIDGETS}/w", accept=TYPED)).body["kind"] == "Widget"
    assert (await api.get(WIDGETS, accept=TYPED)).body["kind"] == "WidgetList"
    response = await api.fetch("POST", WIDGETS, encode(pod()), content_type=PROTOBUF)
    assert (response.code, response.reason) == (415, "UnsupportedMediaType")


async def test_metadata_of_custom_resources_may_be_had(api: Api) -> None:
    await with_widgets(api)
    created = await api.create(WIDGETS, widget())
    assert read(await api.get(f"{WIDGETS}/w", accept=PARTIAL))["metadata"] == created["metadata"]
    assert read(await api.get(WIDGETS, accept=PARTIAL_LIST))["items"] == [{"metadata": created["metadata"]}]


async def test_a_list_shows_the_revision_at_which_it_was_read(api: Api) -> None:
    """A long list is encoded in turns; what is written between them is neither shown nor skipped."""
    await some_config_maps(api, 120)
    listing = asyncio.ensure_future(api.get(CONFIG_MAPS, accept=TYPED))
    writing = asyncio.ensure_future(api.create(CONFIG_MAPS, config_map("later")))
    listed, later = read(await listing), await writing
    revision = int(listed["metadata"]["resourceVersion"])
    assert ("later" in [item["metadata"]["name"] for item in listed["items"]]) == (
        int(later["metadata"]["resourceVersion"]) <= revision
    )
