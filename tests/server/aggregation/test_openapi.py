"""OpenAPI of what other servers answer, among the server's own."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.openapi.merge import below, merged
from tests.server.aggregation.cell import GROUP, ITEM, PATH, Cell, cell, legacy, moment, send_json
from tests.server.proxy.upstream import ReceivedRequest

THING = {"type": "object", "properties": {"size": {"$ref": "#/definitions/Size"}}}
V2 = {
    "swagger": "2.0",
    "paths": {
        f"{PATH}/things": {"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/Thing"}}}}},
        "/version/": {"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/Version"}}}}},
    },
    "definitions": {"Thing": THING, "Size": {"type": "integer"}, "Version": {"type": "string"}},
}
URL = f"/openapi/v3{PATH}?hash=1"
DOCUMENTS: dict[str, Any] = {
    "/openapi/v3": {"paths": {PATH[1:]: {"serverRelativeURL": URL}, "version": {"serverRelativeURL": "/x"}}},
    "/openapi/v2": V2,
    URL: {"openapi": "3.0.0"},
}


async def described(requested: ReceivedRequest) -> None:
    """A backend that has documents."""
    if requested.target in DOCUMENTS:
        await send_json(requested, DOCUMENTS[requested.target])
    else:
        await legacy(requested)


async def index(here: Cell) -> Any:
    """The entries of the v3 index."""
    return (await here.api.get("/openapi/v3")).body["paths"]


async def known(here: Cell) -> Any:
    """The v3 index, as soon as the backend's document is in it."""
    while PATH[1:] not in (found := await index(here)):
        await moment()
    return found


async def test_the_index_leads_to_the_backends_document_which_is_proxied(tmp_path: Path) -> None:
    async with cell(tmp_path, described) as here:
        await here.available()
        entries = await known(here)
        assert entries[PATH[1:]] == {"serverRelativeURL": URL}
        assert "apis/apps/v1" in entries
        assert "version" not in entries
        stream = (await here.api.get(URL)).response.stream
        assert stream is not None
        assert orjson.loads(b"".join([piece async for piece in stream])) == {"openapi": "3.0.0"}
        await here.api.delete(ITEM)
        assert PATH[1:] not in await index(here)


async def test_the_one_document_holds_the_backends_part(tmp_path: Path) -> None:
    async with cell(tmp_path, described) as here:
        before = (await here.api.get("/openapi/v2")).body
        await here.available()
        await known(here)
        while f"{PATH}/things" not in (document := (await here.api.get("/openapi/v2")).body)["paths"]:
            await moment()
        assert document["definitions"]["Thing"] == THING
        assert "Version" not in document["definitions"]
        assert document["paths"].keys() - before["paths"].keys() == {f"{PATH}/things"}
        assert before["definitions"].items() <= document["definitions"].items()


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"paths":1,"definitions":2}', b'{"paths":{"a":{"$ref":1}}}'],
    ids=["no JSON", "no object", "no paths", "no reference"],
)
async def test_a_backend_that_talks_nonsense_spoils_nothing(tmp_path: Path, body: bytes) -> None:
    async def response(requested: ReceivedRequest) -> None:
        if requested.target.startswith("/openapi"):
            await requested.response(body)
        else:
            await legacy(requested)

    async with cell(tmp_path, response) as here:
        await here.available()
        await here.until(lambda: bool(here.requests("/openapi/v3")))
        assert PATH[1:] not in await index(here)
        assert (await here.api.get("/openapi/v2")).code == 200
        assert GROUP in str((await here.api.get("/apis")).body)


async def test_a_part_that_has_no_protobuf_form_is_left_out_of_it(tmp_path: Path) -> None:
    async def response(requested: ReceivedRequest) -> None:
        if requested.target == "/openapi/v2":
            await send_json(requested, {"paths": {f"{PATH}/x": 1}, "definitions": {}})
        else:
            await described(requested)

    async with cell(tmp_path, response) as here:
        await here.available()
        await known(here)
        await here.until(lambda: bool(here.requests("/openapi/v2")))
        await moment()
        accept = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
        found = await here.api.get("/openapi/v2", accept=accept)
        assert found.code == 200
        assert b"/apis/apps/v1" in found.response.body


def use(name: str) -> dict[str, Any]:
    """Something that refers to a definition."""
    return {"$ref": f"#/definitions/{name}"}


def test_a_definition_that_clashes_gets_a_new_name_everywhere() -> None:
    own = {"paths": {"/a": use("T")}, "definitions": {"T": {"type": "string"}, "Same": {"type": "object"}}}
    part = {
        "paths": {"/b/x": use("T")},
        "definitions": {"T": {"properties": {"t": use("T"), "s": use("Same")}}, "Same": {"type": "object"}},
    }
    found = merged(own, {"/b": [part]})
    assert found["paths"] == {"/a": use("T"), "/b/x": use("T_v2")}
    assert found["definitions"] == {
        "T": {"type": "string"},
        "T_v2": {"properties": {"t": use("T_v2"), "s": use("Same")}},
        "Same": {"type": "object"},
    }


def test_names_that_are_taken_too_are_passed_over() -> None:
    own = {"paths": {}, "definitions": {"T": {"a": 1}, "T_v2": {"b": 1}}}
    part = {"paths": {"/b": use("T")}, "definitions": {"T": {"c": 1}, "T_v3": {"d": 1}}}
    assert merged(own, {"/b": [part]})["paths"] == {"/b": use("T_v4")}


def test_paths_of_an_api_service_replace_the_local_ones() -> None:
    own: dict[str, Any] = {"paths": {"/b": {}, "/b/own": {}, "/bc": {}}, "definitions": {}}
    part: dict[str, Any] = {"paths": {"/b/x": {}}, "definitions": {}}
    assert set(merged(own, {"/b": [part]})["paths"]) == {"/b/x", "/bc"}
    assert set(merged(own, {"/b": []})["paths"]) == {"/bc"}


NAMES = st.sampled_from("ABCD")
SCHEMAS = st.lists(NAMES, max_size=2).map(lambda names: {"all": [use(name) for name in names]})
DEFINITIONS = st.fixed_dictionaries(dict.fromkeys("ABCD", SCHEMAS))
PATHS = st.dictionaries(st.sampled_from(["/r/a", "/r/b", "/r"]), NAMES.map(use))


def unfolded(document: Any, name: str, depth: int) -> Any:
    """Return the schema behind a reference, with inner references resolved some steps deep."""
    if not depth:
        return None
    return [
        unfolded(document, each["$ref"].rpartition("/")[2], depth - 1) for each in document["definitions"][name]["all"]
    ]


@given(DEFINITIONS, PATHS, DEFINITIONS)
def test_every_path_means_afterwards_what_it_meant(own: Any, paths: Any, definitions: Any) -> None:
    document = {"paths": {f"/own/{name}": use(name) for name in own}, "definitions": own}
    part = below({"paths": paths, "definitions": definitions}, "/r")
    found = merged(document, {"/r": [part]})
    for source in (document, part):
        for path, item in source["paths"].items():
            before = item["$ref"].rpartition("/")[2]
            after = found["paths"][path]["$ref"].rpartition("/")[2]
            assert unfolded(found, after, 4) == unfolded(source, before, 4)
