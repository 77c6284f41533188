"""Numbers of requests, in every form in which they may come, against those of kube-apiserver 1.36.

Go decodes 2.0 as a float and writes it as 2; strategic merge patches and applies take whole floats for integers; all
other bodies of built-in types refuse them.
"""

from typing import Any

import pytest

from tests.server.cluster import Api, ApiResponse
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, crd, define, schema, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

ANY = {"x-kubernetes-preserve-unknown-fields": True}
OPEN_SPEC = {"type": "object", "properties": {"spec": {"type": "object", **ANY}}}
SCHEMAS = {
    "spec": OPEN_SPEC,
    "root": {"type": "object", **ANY},
    "field": schema({"n": ANY}),
    "number": schema({"n": {"type": "number"}}),
    "integer": schema({"n": {"type": "integer"}}),
    "beside a field": {
        "type": "object",
        "properties": {"spec": {"type": "object", **ANY, "properties": {"z": {"type": "string"}}}},
    },
    "int-or-string": schema({"n": {"x-kubernetes-int-or-string": True}}),
}
NUMBERS = {"2.0": b"2", "1e6": b"1000000", "-0": b"0", "1.5e3": b"1500", "7": b"7"}
DEPLOYMENT = (
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":%s,"selector":{"matchLabels":'
    '{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'
)
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def body(number: str) -> bytes:
    return f'{{"apiVersion":"{GROUP}/v1","kind":"Shirt","metadata":{{"name":"x"}},"spec":{{"n":{number}}}}}'.encode()


async def stored_n(api: Api) -> bytes:
    response = (await api.get(f"{SHIRTS}/x")).response
    return response.body[response.body.rindex(b'"n":') + 4 :].rstrip(b"}\n ")


@pytest.mark.parametrize("openapi", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize(("number", "written"), NUMBERS.items())
async def test_a_number_of_a_custom_resource(api: Api, openapi: dict[str, Any], number: str, written: bytes) -> None:
    await define(api, openapi)
    assert (await api.post(SHIRTS, body(number))).code == 201
    assert await stored_n(api) == written
    await api.patch(f"{SHIRTS}/x", b'{"spec":{"n":3}}')
    assert (await api.patch(f"{SHIRTS}/x", f'{{"spec":{{"n":{number}}}}}'.encode())).code == 200
    assert await stored_n(api) == written
    await api.patch(f"{SHIRTS}/x", b'{"spec":{"n":3}}')
    patch = f'[{{"op":"replace","path":"/spec/n","value":{number}}}]'.encode()
    assert (await api.patch(f"{SHIRTS}/x", patch, "json")).code == 200
    assert await stored_n(api) == written
    await api.delete(f"{SHIRTS}/x")
    assert (await api.apply(f"{SHIRTS}/x", body(number))).code == 201
    assert await stored_n(api) == written
    await api.delete(f"{SHIRTS}/x")
    text = f'apiVersion: {GROUP}/v1\nkind: Shirt\nmetadata: {{name: x}}\nspec: {{"n": {number}}}\n'.encode()
    assert (await api.fetch("POST", SHIRTS, text, content_type="application/yaml")).code == 201
    assert await stored_n(api) == written


async def test_numbers_in_lists_and_maps_without_a_schema(api: Api) -> None:
    await define(api, OPEN_SPEC)
    value = b'{"a":[1.0,[2.0,{"b":3.0}],2.5,true],"c":{"d":1e2}}'
    await api.post(SHIRTS, body(value.decode()))
    stored = (await api.get(f"{SHIRTS}/x")).response.body
    assert b'"n":{"a":[1,[2,{"b":3}],2.5,true],"c":{"d":100}}' in stored


@pytest.mark.parametrize(
    ("number", "float_"), [("18446744073709551615", 2.0**64), ("9223372036854775808", 2.0**63), ("1e20", 1e20)]
)
async def test_an_integer_beyond_int64_is_a_float(api: Api, number: str, float_: float) -> None:
    await define(api, OPEN_SPEC)
    await api.post(SHIRTS, body(number))
    assert float(await stored_n(api)) == float_


async def test_a_number_beyond_all_floats_is_refused(api: Api) -> None:
    await define(api, OPEN_SPEC)
    refused = await api.post(SHIRTS, body("1e400"))
    assert refused.code == 400
    assert "json: cannot unmarshal number 1e400 into Go value of type float64" in refused.message


async def test_a_whole_float_is_no_change_of_an_integer(api: Api) -> None:
    await define(api, OPEN_SPEC)
    await api.post(SHIRTS, body("2"))
    before = (await api.get(f"{SHIRTS}/x")).body
    assert (await api.patch(f"{SHIRTS}/x", b'{"spec":{"n":2.0}}')).body == before


async def applied(api: Api, number: str) -> ApiResponse:
    return await api.apply(f"{DEPLOYMENTS}/a", (DEPLOYMENT % number).encode())


async def test_an_apply_of_a_built_in_type_takes_whole_floats_for_integers(api: Api) -> None:
    reply = await applied(api, "3.0")
    assert (reply.code, reply.body["spec"]["replicas"]) == (201, 3)
    assert (await applied(api, "3.5")).code in (400, 422, 500)


@pytest.mark.parametrize("number", ["3.0", "3e0", "3E0", "30e-1", "0.3e1", "3.000 ", "3.0\\n"])
async def test_every_form_of_a_whole_number_is_applied(api: Api, number: str) -> None:
    assert (await applied(api, number.replace("\\n", "\n"))).body["spec"]["replicas"] == 3


async def test_a_strategic_merge_patch_takes_whole_floats_for_integers(api: Api) -> None:
    await applied(api, "1")
    path = f"{DEPLOYMENTS}/a"
    assert (await api.patch(path, b'{"spec":{"replicas":3.0}}', "strategic")).body["spec"]["replicas"] == 3
    assert (await api.patch(path, b'{"spec":{"minReadySeconds":1e1}}', "strategic")).body["spec"][
        "minReadySeconds"
    ] == 10
    refused = await api.patch(path, b'{"spec":{"replicas":0.5}}', "strategic")
    assert (refused.code, "cannot convert float64 to int32" in refused.message) == (422, True)


@pytest.mark.parametrize("verb", ["POST", "PUT", "merge", "json"])
async def test_other_bodies_of_built_in_types_refuse_whole_floats_for_integers(api: Api, verb: str) -> None:
    if verb != "POST":
        await applied(api, "1")
    path = f"{DEPLOYMENTS}/a"
    match verb:
        case "POST":
            refused = await api.post(DEPLOYMENTS, (DEPLOYMENT % "3.0").encode())
        case "PUT":
            refused = await api.put(path, (DEPLOYMENT % "3.0").encode())
        case "merge":
            refused = await api.patch(path, b'{"spec":{"replicas":3.0}}')
        case _:
            refused = await api.patch(path, b'[{"op":"replace","path":"/spec/replicas","value":3.0}]', "json")
    assert refused.code in (400, 422)
    assert (
        "cannot unmarshal number 3.0 into Go struct field DeploymentSpec.spec.replicas of type int32" in refused.message
    )


async def test_the_json_of_a_definition_has_whole_numbers(api: Api) -> None:
    node = {"type": "number", "default": 2.0, "maximum": 3.0, "enum": [1.0, 2.0]}
    await api.create(CRDS, crd(version("v1", schema({"n": node}))))
    stored = (await api.get(f"{CRDS}/shirts.{GROUP}")).response.body
    for text in (b'"default":2,', b'"maximum":3,', b'"enum":[1,2]'):
        assert text in stored.replace(b"}", b",")


@pytest.mark.parametrize(
    ("number", "cell"),
    [("123456789.5", "1.234567895e+08"), ("2.0", "2"), ("1e20", "1e+20"), ("0.5", "0.5"), ("1e6", "1000000")],
)
async def test_a_text_column_shows_a_number_as_go_prints_it(api: Api, number: str, cell: str) -> None:
    column = {"name": "N", "type": "string", "jsonPath": ".spec.n"}
    await define(api, OPEN_SPEC, additionalPrinterColumns=[column])
    await api.post(SHIRTS, body(number))
    table = (await api.get(SHIRTS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")).body
    assert table["rows"][0]["cells"][1] == cell


CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r"1Gi\n", 400),
        (r"1Gi\u0020", 400),
        (r"1Gi\t", 400),
        (r"\n1Gi", 400),
        (r"1Gi\u00a0", 400),
        (r"\u0031Gi", 400),
        ("1Gi\u00a0", 201),
        (" 1Gi ", 201),
        ("1Gi", 201),
    ],
)
async def test_an_escape_in_a_quantity_is_refused(api: Api, text: str, code: int) -> None:
    claim = (
        '{"metadata":{"name":"a","annotations":{"a":"\\u0035"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":'
        '{"requests":{"storage":"%s"}}}}'
    )
    reply = await api.post(CLAIMS, (claim % text).encode())
    assert reply.code == code
    if code == 400:
        assert "quantities must match the regular expression" in reply.message
    else:
        assert reply.body["spec"]["resources"]["requests"]["storage"] == "1Gi"


async def test_a_text_with_escapes_elsewhere_is_kept(api: Api) -> None:
    body = rb'{"metadata":{"name":"a"},"data":{"a":"1Gi\u0020","b":"\u0031Gi","c":"5\n"}}'
    data = (await api.create("/api/v1/namespaces/default/configmaps", body))["data"]
    assert data == {"a": "1Gi ", "b": "1Gi", "c": "5\n"}
