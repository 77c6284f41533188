"""Bodies that are nested deeply, in every form in which they may come. Kubernetes accepts 10,000 levels."""

import pytest

from sampan.wire.json import decode
from tests.server.cluster import Api
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, crd, define, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

LEVELS = 900
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def nested(inside: str = "1", levels: int = LEVELS) -> str:
    return '{"a":' * levels + inside + "}" * levels


def shirt(inside: str = "1", levels: int = LEVELS, api: str = "v1") -> bytes:
    head = f'{{"apiVersion":"{GROUP}/{api}","kind":"Shirt","metadata":{{"name":"x"}}'
    return f'{head},"x":{nested(inside, levels)}}}'.encode()


async def stored(api: Api, path: str = f"{SHIRTS}/x") -> str:
    body = (await api.get(path)).response.body
    return body[body.rindex(b'"x":') + 4 :].decode().rstrip()[:-1]


async def test_a_created_object_is_given_back_whole(api: Api) -> None:
    await define(api, ANY)
    assert (await api.post(SHIRTS, shirt('{"c":2.0,"b":null}'))).code == 201
    assert await stored(api) == nested('{"b":null,"c":2}')
    for path, accept in ((f"{SHIRTS}/x", TABLE), (SHIRTS, f"{TABLE},application/json"), (f"{SHIRTS}/x", METADATA)):
        assert (await api.get(path, accept=accept)).code == 200
    pretty = (await api.get(f"{SHIRTS}/x?pretty=true")).response.body
    assert decode(pretty) == decode((await api.get(f"{SHIRTS}/x")).response.body)
    assert len((await api.get(SHIRTS)).body["items"]) == 1
    async with api.watch(f"{SHIRTS}?watch=true") as watch:
        assert str((await watch.event())["object"]["x"]).count("a") == LEVELS


async def test_a_put_of_the_same_object_changes_nothing(api: Api) -> None:
    await define(api, ANY)
    made = (await api.post(SHIRTS, shirt('{"c":1,"b":2}'))).response.body
    same = await api.put(f"{SHIRTS}/x", made.replace(b'{"b":2,"c":1}', b'{"c": 1.0, "b": 2}'))
    assert same.metadata["resourceVersion"] == decode(made)["metadata"]["resourceVersion"]
    changed = await api.put(f"{SHIRTS}/x", made.replace(b'"c":1', b'"c":3'))
    assert changed.metadata["generation"] == 2


@pytest.mark.parametrize("levels", [240, 260, LEVELS])
async def test_a_merge_patch_reaches_every_level(api: Api, levels: int) -> None:
    await define(api, ANY)
    await api.post(SHIRTS, shirt('{"b":1,"c":1}', levels))
    changes = nested('{"b":null,"d":{"e":null,"f":2}}', levels)
    patch = f'{{"x":{changes}}}'.encode()
    assert (await api.patch(f"{SHIRTS}/x", patch)).code == 200
    assert await stored(api) == nested('{"c":1,"d":{"f":2}}', levels)
    assert (await api.patch(f"{SHIRTS}/x", b'{"metadata":{"labels":{"a":"b"}}}')).code == 200
    assert await stored(api) == nested('{"c":1,"d":{"f":2}}', levels)


@pytest.mark.parametrize("levels", [240, 260, LEVELS])
async def test_a_json_patch_reaches_every_level(api: Api, levels: int) -> None:
    await define(api, ANY)
    await api.post(SHIRTS, shirt('{"b":1}', levels))
    path = "/x" + "/a" * levels
    patch = [
        {"op": "test", "path": f"{path}/b", "value": 1},
        {"op": "add", "path": f"{path}/c", "value": [2]},
        {"op": "copy", "from": path, "path": f"{path}/d"},
        {"op": "remove", "path": f"{path}/b"},
    ]
    assert (await api.patch(f"{SHIRTS}/x", patch, "json")).code == 200
    assert await stored(api) == nested('{"c":[2],"d":{"b":1,"c":[2]}}', levels)
    refused = await api.patch(f"{SHIRTS}/x", [{"op": "test", "path": "/x", "value": 1}], "json")
    assert refused.code == 422


async def test_a_json_patch_that_copies_an_object_into_itself_is_bounded(api: Api) -> None:
    await define(api, ANY)
    await api.post(SHIRTS, shirt(levels=100))
    patch = [{"op": "copy", "from": "/x", "path": "/x" + "/a" * (99 * 2**step)} for step in range(8)]
    assert (await api.patch(f"{SHIRTS}/x", patch, "json")).code in (200, 422)
    assert (await api.get(f"{SHIRTS}/x")).code == 200


async def test_an_apply_owns_what_is_nested_deeply(api: Api) -> None:
    await define(api, ANY)
    assert (await api.apply(f"{SHIRTS}/x", shirt())).code == 201
    assert (await api.apply(f"{SHIRTS}/x", shirt("2"), "fieldManager=other")).code == 409
    assert (await api.apply(f"{SHIRTS}/x", shirt("2"))).code == 200
    assert await stored(api) == nested("2")


async def test_a_yaml_body(api: Api) -> None:
    await define(api, ANY)
    text = shirt(levels=600).replace(b'":', b'": ')
    assert (await api.fetch("POST", SHIRTS, text, content_type="application/yaml")).code == 201
    assert await stored(api) == nested(levels=600)
    assert (await api.get(f"{SHIRTS}/x", accept="application/yaml")).response.body.count(b'"a":') == 600


async def test_another_version_has_the_whole_object(api: Api) -> None:
    versions = version("v1", ANY), version("v2", ANY, storage=False)
    await api.create(CRDS, crd(*versions))
    assert (await api.post(SHIRTS, shirt())).code == 201
    assert await stored(api, f"{SHIRTS}/x".replace("/v1/", "/v2/")) == nested()


async def test_an_unknown_field_of_a_built_in_kind_is_dropped_with_a_warning(api: Api) -> None:
    body = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"zz":{nested()}}}'.encode()
    made = await api.post(CONFIG_MAPS, body)
    assert (made.code, made.warnings, "zz" in made.body) == (201, ['unknown field "zz"'], False)
    refused = await api.post(f"{CONFIG_MAPS}?fieldValidation=Strict", body)
    assert (refused.code, refused.message.endswith('strict decoding error: unknown field "zz"')) == (400, True)


async def test_a_typed_field_of_a_built_in_kind_is_refused(api: Api) -> None:
    body = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{nested()}}}'.encode()
    refused = await api.post(CONFIG_MAPS, body)
    text = "cannot unmarshal object into Go struct field ConfigMap.data of type string"
    assert (refused.code, text in refused.message) == (400, True)


@pytest.mark.parametrize(
    ("method", "path", "content_type", "start"),
    [
        ("POST", CONFIG_MAPS, "application/json", "the object provided is unrecognized (must be of type ConfigMap): "),
        ("PATCH", f"{SHIRTS}/x", "application/merge-patch+json", "error decoding patch: "),
    ],
)
async def test_more_levels_are_refused_in_the_words_of_go(
    api: Api, method: str, path: str, content_type: str, start: str
) -> None:
    await define(api, ANY)
    await api.post(SHIRTS, shirt())
    for levels in (10_000, 150_000):
        body = f'{{"zz":{nested(levels=levels)}}}'.encode()
        refused = await api.fetch(method, path, body, content_type=content_type)
        assert (refused.code, refused.message[: len(start)]) == (400, start)
        assert "invalid character '{' exceeded max depth" in refused.message
