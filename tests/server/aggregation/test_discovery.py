"""Discovery of what other servers answer, among the server's own."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.server.aggregation.backend_client import BackendError
from sampan.server.aggregation.remote_discovery import _of_list, _of_resources
from sampan.server.aggregation.settings import Intervals
from tests.server.aggregation.cell import GROUP, ITEM, PATH, Cell, cell, legacy, moment
from tests.server.client import header
from tests.server.cluster import Api
from tests.server.proxy.upstream import ReceivedRequest

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ENTRY = {
    "resource": "things",
    "responseKind": {"group": "", "version": "", "kind": "Thing"},
    "scope": "Namespaced",
    "singularResource": "thing",
    "verbs": ["get", "list"],
}


async def of_version(here: Cell, version: str = "v1") -> Any:
    """The version's entry in the aggregated document."""
    items = (await here.api.get("/apis", accept=V2)).body["items"]
    item = next(item for item in items if item["metadata"]["name"] == GROUP)
    return next(entry for entry in item["versions"] if entry["version"] == version)


async def until(here: Cell, **desired: Any) -> Any:
    """The version's entry, as soon as it has these fields."""
    async with asyncio.timeout(60):
        while True:
            entry = await of_version(here)
            if desired.items() <= entry.items():
                return entry
            await moment()


async def aggregated(requested: ReceivedRequest) -> None:
    """A backend that serves the aggregated document."""
    if requested.target != "/apis":
        await legacy(requested)
        return
    etag = '"abc"'
    if requested.headers.get("if-none-match") == etag:
        await requested.send(b"HTTP/1.1 304 Not Modified\r\nETag: %b\r\n\r\n" % etag.encode())
        return
    item = {"metadata": {"name": GROUP}, "versions": [{"version": "v1", "resources": [ENTRY], "freshness": "Current"}]}
    body = orjson.dumps({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [item]})
    await requested.response(body, f"HTTP/1.1 200 OK\r\nContent-Type: {V2}\r\nETag: {etag}\r\n")


async def test_it_is_taken_from_the_aggregated_document_of_the_backend(tmp_path: Path) -> None:
    async with cell(tmp_path, aggregated) as here:
        await here.available()
        assert await until(here, freshness="Current") == {
            "version": "v1",
            "resources": [ENTRY],
            "freshness": "Current",
        }


async def test_an_older_backend_is_understood_too(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        (resource,) = (await until(here, freshness="Current"))["resources"]
        kind = {"group": GROUP, "version": "v1", "kind": "Thing"}
        assert resource == {
            "resource": "things",
            "responseKind": kind,
            "scope": "Namespaced",
            "singularResource": "thing",
            "verbs": ["get", "list"],
            "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get"]}],
        }


async def test_groups_are_listed_with_available_and_unavailable_backends(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.api_service()
        await here.api_service(version="v2", versionPriority=20, groupPriorityMinimum=17901)
        groups = (await here.api.get("/apis")).body["groups"]
        names = [group["name"] for group in groups]
        assert names.index(GROUP) == names.index("apps") - 1
        group = (await here.api.get(f"/apis/{GROUP}")).body
        assert [each["version"] for each in group["versions"]] == ["v2", "v1"]
        assert group["preferredVersion"]["version"] == "v2"
        assert await of_version(here) == {"version": "v1", "resources": [], "freshness": "Stale"}
        assert PATH in (await here.api.get("/")).body["paths"]


async def test_the_last_document_of_a_dead_backend_is_stale(tmp_path: Path) -> None:
    dead = asyncio.Event()

    async def response(requested: ReceivedRequest) -> None:
        if dead.is_set():
            requested.writer.transport.abort()
        else:
            await aggregated(requested)

    async with cell(tmp_path, response, intervals=Intervals(documents_s=0.02, documents_retry_s=0.02)) as here:
        await here.available()
        await until(here, freshness="Current")
        dead.set()
        assert (await until(here, freshness="Stale"))["resources"] == [ENTRY]
        dead.clear()
        await until(here, freshness="Current")


async def test_an_unchanged_document_is_not_sent_again_and_changes_nothing(tmp_path: Path) -> None:
    async with cell(tmp_path, aggregated, intervals=Intervals(documents_s=0.02)) as here:
        await here.available()
        await until(here, freshness="Current")
        etag = header((await here.api.get("/apis", accept=V2)).response, "etag")
        await here.until(lambda: here.requests("/apis")[-1].headers.get("if-none-match") == '"abc"')
        assert header((await here.api.get("/apis", accept=V2)).response, "etag") == etag


async def test_a_backend_that_hangs_holds_up_no_client(tmp_path: Path) -> None:
    async def response(requested: ReceivedRequest) -> None:
        await asyncio.Event().wait()

    async with cell(tmp_path, response) as here:
        await here.service()
        await here.api_service()
        await here.until(lambda: bool(here.backend.requested))
        async with asyncio.timeout(4):
            assert (await of_version(here))["freshness"] == "Stale"
            assert (await here.api.get("/apis")).code == 200
            assert (await here.api.get(PATH)).code == 503
            await another_group_is_found(here.api)


async def another_group_is_found(api: Api) -> None:
    """Others than the one that hangs are looked at."""
    service = {"namespace": "default", "name": "nobody"}
    spec = {"group": "b.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
    item = {"metadata": {"name": "v1.b.example.com"}, "spec": {**spec, "service": service}}
    await api.create(ITEM.rpartition("/")[0], item)
    async with api.watch(f"{ITEM.rpartition('/')[0]}?watch=1&fieldSelector=metadata.name=v1.b.example.com") as watch:
        while "ServiceNotFound" not in str(await watch.event()):
            pass


async def test_it_goes_with_the_api_service(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        await until(here, freshness="Current")
        assert (await here.api.delete(ITEM)).code == 200
        assert GROUP not in [group["name"] for group in (await here.api.get("/apis")).body["groups"]]
        assert (await here.api.get(PATH)).code == 404


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"resources":[{}]}', b'{"resources":[1]}', b'{"resources":{"a":1}}'],
    ids=["no JSON", "no object", "no name", "no resource", "no list"],
)
async def test_a_backend_that_talks_nonsense_is_stale(tmp_path: Path, body: bytes) -> None:
    async def response(requested: ReceivedRequest) -> None:
        status = "404 Not Found" if requested.target == "/apis" else "200 OK"
        await requested.response(body, f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n")

    async with cell(tmp_path, response) as here:
        await here.available()
        await here.until(lambda: len(here.requests("/apis")) > 1)
        assert await of_version(here) == {"version": "v1", "resources": [], "freshness": "Stale"}


def changed(entry: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a copy of an entry with other values."""
    return {**entry, **fields}


LEGACY = {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get"]}
PART = {"subresource": "status", "responseKind": ENTRY["responseKind"], "verbs": ["get"]}


@pytest.mark.parametrize(
    "entry",
    [
        *(changed(ENTRY, **{name: value}) for name in ENTRY for value in ({"kind": 1}, 5, [1])),
        *(changed(ENTRY, **{name: value}) for name in ("shortNames", "categories") for value in ("a", {"a": 1}, [1])),
        *(changed(ENTRY, subresources=[changed(PART, **{name: {"kind": [1]}})]) for name in PART),
        changed(ENTRY, subresources=[changed(PART, acceptedTypes=["Thing"])]),
        changed(ENTRY, subresources="abc"),
        *(changed(LEGACY, **{name: value}) for name in LEGACY for value in ({"a": 1}, 5, [1])),
        *(changed(LEGACY, **{name: {"a": 1}}) for name in ("group", "version", "shortNames", "categories")),
    ],
    ids=str,
)
def test_values_of_other_types_are_refused_because_they_stop_all_clients(entry: Any) -> None:
    group = {"metadata": {"name": GROUP}, "versions": [{"version": "v1", "resources": [entry]}]}
    document, read = ({"resources": [entry]}, _of_resources) if "name" in entry else ({"items": [group]}, _of_list)
    with pytest.raises(BackendError):
        read(orjson.dumps(document), (GROUP, "v1"))


def test_nothing_is_published_but_the_known_fields() -> None:
    parts = [changed(PART, extra=[[[1]]], responseKind=None)]
    resource = changed(ENTRY, more={"a": 1}, verbs=None, subresources=parts)
    group = {"metadata": {"name": GROUP}, "versions": [{"version": "v1", "resources": [resource]}]}
    found = _of_list(orjson.dumps({"items": [group]}), (GROUP, "v1"))
    nothing = {"group": "", "version": "", "kind": ""}
    part = {"subresource": "status", "responseKind": nothing, "verbs": ["get"]}
    assert found["resources"] == [changed(ENTRY, verbs=[], subresources=[part])]


async def test_a_document_that_would_block_the_server_is_refused(tmp_path: Path) -> None:
    async def response(requested: ReceivedRequest) -> None:
        if requested.target == "/apis":
            await aggregated_of(requested, [changed(ENTRY, singularResource="x" * (3 << 20))])
        else:
            await legacy(requested)

    async with cell(tmp_path, response) as here:
        await here.available()
        await here.until(lambda: len(here.requests("/apis")) > 1)
        assert await of_version(here) == {"version": "v1", "resources": [], "freshness": "Stale"}


async def aggregated_of(requested: ReceivedRequest, resources: list[Any]) -> None:
    """Send an aggregated document with these resources."""
    item = {"metadata": {"name": GROUP}, "versions": [{"version": "v1", "resources": resources}]}
    await requested.response(orjson.dumps({"items": [item]}), f"HTTP/1.1 200 OK\r\nContent-Type: {V2}\r\n")
