"""Bodies, parameters and headers that make no sense: a clear 4xx, nothing stored, the server lives on."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from sampan.core.errors import CAUSES_MAX
from tests.server.cluster import CONTENT_TYPES, Api, ApiResponse, served
from tests.server.verbs.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, WIDGETS, config_map, deployment, with_widgets

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api
        assert (await api.get(CONFIG_MAPS)).code == 200
        assert not api.server.deadlines.under_way()


def check_refused(response: ApiResponse, *codes: int) -> None:
    """A Status with all that belongs to it, and nothing of our inside."""
    assert response.code in codes, (response.code, response.body)
    status = response.body
    assert (status["kind"], status["apiVersion"], status["status"]) == ("Status", "v1", "Failure")
    assert status["code"] == response.code
    assert status["reason"] == REASONS[response.code]
    assert status["message"]
    assert "Traceback" not in status["message"]
    if response.code == 422 and status["details"].get("kind"):
        assert all(cause.keys() == {"reason", "message", "field"} for cause in status["details"]["causes"])


async def untouched(api: Api) -> bool:
    """Return whether nothing was stored."""
    return not (await api.get(CONFIG_MAPS)).body["items"] and not (await api.get(DEPLOYMENTS)).body["items"]


NAMED = b'{"metadata":{"name":"a"},"data":%b}'
BODIES = {
    "empty": b"",
    "white space": b" \n ",
    "not JSON": b"{",
    "cut": b'{"metadata":{"name":"a"',
    "two documents": b'{"metadata":{"name":"a"}}{}',
    "trailing comma": b'{"metadata":{"name":"a"},}',
    "array": b"[]",
    "array of objects": b'[{"metadata":{"name":"a"}}]',
    "null": b"null",
    "true": b"true",
    "number": b"5",
    "string": b'"x"',
    "NaN": NAMED % b'{"a":NaN}',
    "infinite": NAMED % b'{"a":Infinity}',
    "minus infinite": NAMED % b"-Infinity",
    "single quotes": b"{'metadata':{'name':'a'}}",
    "UTF-16": '{"metadata":{"name":"a"}}'.encode("utf-16"),
    "NUL outside": b'{"metadata":{"name":"a"}}\0',
    "control character": NAMED % b'{"a":"\x01"}',
    "deep arrays": b"[" * 10_000,
    "deep arrays, closed": NAMED % (b"[" * 10_000 + b"]" * 10_000),
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "data is a list": NAMED % b"[]",
    "data is a string": NAMED % b'"x"',
    "a number for a string": NAMED % b'{"a":1}',
    "an object for a string": NAMED % b'{"a":{}}',
    "metadata is a list": b'{"metadata":[]}',
    "metadata is a string": b'{"metadata":"a"}',
    "name is a number": b'{"metadata":{"name":5}}',
    "name is an object": b'{"metadata":{"name":{}}}',
    "labels are a list": b'{"metadata":{"name":"a","labels":[]}}',
    "a label is a number": b'{"metadata":{"name":"a","labels":{"x":1}}}',
    "owners are an object": b'{"metadata":{"name":"a","ownerReferences":{}}}',
    "an owner is a string": b'{"metadata":{"name":"a","ownerReferences":["x"]}}',
    "finalizers of numbers": b'{"metadata":{"name":"a","finalizers":[1]}}',
    "managedFields is a string": b'{"metadata":{"name":"a","managedFields":"x"}}',
    "time is no time": b'{"metadata":{"name":"a","creationTimestamp":"yesterday"}}',
    "generation is too large": b'{"metadata":{"name":"a","generation":99999999999999999999}}',
    "generation is a fraction": b'{"metadata":{"name":"a","generation":1.5}}',
    "kind is a number": b'{"kind":5,"apiVersion":"v1","metadata":{"name":"a"}}',
    "kind is another": b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}',
    "apiVersion is a list": b'{"kind":"ConfigMap","apiVersion":[],"metadata":{"name":"a"}}',
    "apiVersion is another": b'{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}}',
    "NUL in the name": b'{"metadata":{"name":"a\\u0000b"}}',
    "a line in the name": b'{"metadata":{"name":"a\\nb"}}',
    "a slash in the name": b'{"metadata":{"name":"a/b"}}',
    "dots for a name": b'{"metadata":{"name":".."}}',
    "a lone surrogate in the name": b'{"metadata":{"name":"\\ud800"}}',
    "a lone surrogate in a key": b'{"metadata":{"name":"a"},"data":{"\\udc00":"x"}}',
    "a bad data key": NAMED % b'{"a b":"x"}',
    "bad base64": b'{"metadata":{"name":"a"},"binaryData":{"a":"?"}}',
}


async def test_bytes_that_are_no_text_are_replaced_as_in_go(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, NAMED % b'{"a":"\xff"}')
    assert made["data"] == {"a": "\ufffd"}


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_bad_object(api: Api, method: str, body: bytes) -> None:
    path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/a"
    response = await api.fetch(method, path, body)
    check_refused(response, *((400, 422) if method == "POST" else (400, 404, 422)))
    assert await untouched(api)


@pytest.mark.parametrize("kind", ["json", "merge", "strategic", "apply"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_bad_patch(api: Api, kind: str, body: bytes) -> None:
    before = await api.create(CONFIG_MAPS, config_map())
    response = await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", body, kind)
    if response.code != 200:
        check_refused(response, 400, 409, 413, 422)
        assert (await api.get(f"{CONFIG_MAPS}/a")).body == before


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_bad_custom_resource(widgets: Api, body: bytes) -> None:
    wrapped = body.replace(b'{"metadata"', b'{"apiVersion":"example.com/v1","kind":"Widget","metadata"')
    response = await widgets.post(WIDGETS, wrapped)
    if response.code != 201:
        check_refused(response, 400, 422)


@pytest.fixture
async def widgets(api: Api) -> Api:
    await with_widgets(api)
    return api


YAML = {
    "a tab": b"metadata:\n\tname: a\n",
    "not closed": b"metadata: {name: a",
    "a scalar": b"hello",
    "a list": b"- a\n- b\n",
    "a tag": b"metadata: !!python/object/apply:os.system ['true']\n",
    "two documents": b"metadata: {name: a}\n---\nmetadata: {name: b}\n",
    "an alias of nothing": b"metadata: *x\n",
    "aliases without end": b"a: &a [x,x]\n"
    + b"".join(b"%c: &%c [*%c,*%c]\n" % (c + 1, c + 1, c, c) for c in b"abcdefghijklmnopqrstuvw"),
    "itself": b"metadata: &a\n  labels: *a\n",
    "deep": b"[" * 10_000,
    "bad UTF-8": b"metadata: {name: \xff}\n",
    "number keys": b"metadata: {name: a}\ndata: {1: x, true: y}\nbinaryData: 5\n",
}


@pytest.mark.parametrize("body", YAML.values(), ids=YAML.keys())
async def test_bad_yaml(api: Api, body: bytes) -> None:
    response = await api.post(CONFIG_MAPS, body, content_type="application/yaml")
    check_refused(response, 400, 413, 422)
    assert await untouched(api)


@pytest.mark.parametrize("body", YAML.values(), ids=YAML.keys())
async def test_bad_yaml_to_apply(api: Api, body: bytes) -> None:
    check_refused(await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", body, "apply"), 400, 413, 422)
    assert await untouched(api)


@pytest.mark.parametrize(
    ("spec", "codes"),
    [
        (5, (400,)),
        ([], (400,)),
        ({"replicas": "1"}, (400,)),
        ({"replicas": 1.5}, (400,)),
        ({"replicas": 2**31}, (400,)),
        ({"replicas": 2**63}, (400,)),
        ({"replicas": True}, (400,)),
        ({"template": []}, (400,)),
        ({"template": {"spec": {"containers": {}}}}, (400,)),
        ({"template": {"spec": {"containers": [5]}}}, (400,)),
        ({"template": {"spec": {"containers": [{"ports": [{"containerPort": "x"}]}]}}}, (400,)),
        ({"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}}, (400, 422)),
        ({"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "1e999999999"}}}]}}}, (400, 422)),
        ({"template": {"spec": {"containers": [None]}}}, (400, 422)),
        ({"strategy": {"rollingUpdate": {"maxSurge": {}}}}, (400,)),
        ({"selector": {"matchLabels": {"a": 1}}}, (400,)),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}, (422,)),
        (None, (422,)),
    ],
)
async def test_wrong_types_at_each_level(api: Api, spec: Any, codes: tuple[int, ...]) -> None:
    full = deployment()
    full["spec"] = {**full["spec"], **spec} if isinstance(spec, dict) else spec
    check_refused(await api.post(DEPLOYMENTS, full), *codes)
    assert await untouched(api)


LONG_SELECTORS = {
    "requirements of labels": "labelSelector=" + quote(",".join(f"!a{index}" for index in range(257))),
    "characters of labels": "labelSelector=a+in+(" + "b," * 33_000 + "b)",
    "requirements of fields": "fieldSelector=" + quote(",".join(f"metadata.name!={index}" for index in range(257))),
}


@pytest.mark.parametrize("selector", LONG_SELECTORS.values(), ids=LONG_SELECTORS)
async def test_selectors_that_are_too_long(api: Api, selector: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    check_refused(await api.get(f"{CONFIG_MAPS}?{selector}"), 400)
    check_refused(await api.get(f"{CONFIG_MAPS}?watch=1&{selector}"), 400)
    check_refused(await api.delete(f"{CONFIG_MAPS}?{selector}"), 400)
    assert len((await api.get(CONFIG_MAPS)).body["items"]) == 1


async def test_a_body_that_is_too_large(api: Api) -> None:
    body = orjson.dumps(config_map() | {"data": {"k": "x" * (3 << 20)}})

    for method, path in (("POST", CONFIG_MAPS), ("PUT", f"{CONFIG_MAPS}/a"), ("DELETE", f"{CONFIG_MAPS}/a")):
        response = await api.fetch(method, path, body)
        check_refused(response, 413)
    for kind in CONTENT_TYPES:
        check_refused(await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", body, kind), 413)
    assert await untouched(api)


async def test_an_object_that_is_too_large(api: Api) -> None:
    annotations = {f"a{i}": "x" * 60_000 for i in range(4)}
    body = {"metadata": {"name": "s", "annotations": annotations}, "spec": {"template": {"spec": {}}}}
    big = {"metadata": {"name": "big"}, "data": {f"k{i}": "x" * 1000 for i in range(2000)}}
    check_refused(await api.post(CONFIG_MAPS, big), 413, 422)
    assert (await api.post("/api/v1/namespaces/default/podtemplates", body)).code < 500
    assert await untouched(api)


async def test_ten_thousand_labels(api: Api) -> None:
    labels = {f"l{i}": "v" for i in range(10_000)}
    response = await api.post(CONFIG_MAPS, config_map(labels=labels))
    assert response.code == 201
    assert len((await api.get(f"{CONFIG_MAPS}?labelSelector=l9999=v")).body["items"]) == 1


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/xml",
        "application/json-patch+json",
        "multipart/form-data; boundary=x",
        "nonsense",
        ";",
    ],
)
async def test_a_bad_content_type(api: Api, content_type: str) -> None:
    response = await api.post(CONFIG_MAPS, config_map(), content_type=content_type)
    check_refused(response, 415)
    assert await untouched(api)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/json;x=y", ""])
async def test_parameters_of_the_content_type_do_not_matter(api: Api, content_type: str) -> None:
    assert (await api.post(CONFIG_MAPS, config_map(), content_type=content_type)).code == 201


@pytest.mark.parametrize(
    "accept", ["text/html", "application/xml", "image/*", "application/json;as=Odd;v=v1;g=meta.k8s.io"]
)
async def test_a_bad_accept_header(api: Api, accept: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    for path in (CONFIG_MAPS, f"{CONFIG_MAPS}/a", f"{CONFIG_MAPS}?watch=1"):
        check_refused(await api.get(path, accept=accept), 406)


@pytest.mark.parametrize("accept", [";;;", ",", "a/b/c", "*", "application/json;q=x", "x" * 10_000, "\udcff"])
async def test_a_senseless_accept_header(api: Api, accept: str) -> None:
    assert (await api.get(CONFIG_MAPS, accept=accept)).code in (200, 406)


@pytest.mark.parametrize(
    "token", ["", "Bearer", "Bearer ", "Bearer nope", "Basic abc", "Bearer " + "x" * 9000, "bearer \0"]
)
async def test_bad_tokens(api: Api, token: str) -> None:
    response = await Api(api.server, {"authorization": token} if token else {}).get(CONFIG_MAPS)
    assert response.code in (401, 403)
    assert response.reason in ("Unauthorized", "Forbidden")


QUERIES = [
    "limit=x",
    "limit=1e3",
    "limit=0x10",
    "limit=%00",
    "limit=٣",
    "timeoutSeconds=x",
    "resourceVersion=x",
    "resourceVersion=٣",
    "resourceVersionMatch=x",
    "continue=x",
    "continue=%00",
    "continue=" + "A" * 5000,
    "labelSelector=%3D",
    "labelSelector=a%3Db%3Dc",
    "labelSelector=" + quote("a in (" + "x," * 2000),
    "labelSelector=%ff%fe",
    "fieldSelector=x%3Dy",
    "fieldSelector=a%5C",
    "sendInitialEvents=x",
    "timeout=x",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_bad_parameters(api: Api, method: str, query: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    check_refused(await api.fetch(method, f"{CONFIG_MAPS}?{query}"), 400, 422)
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 200


@pytest.mark.parametrize(
    "query",
    [
        "dryRun=x",
        "dryRun=",
        "dryRun=All&dryRun=x",
        "fieldValidation=x",
        "fieldManager=" + "m" * 129,
        "fieldManager=%00",
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_bad_parameters_of_writes(api: Api, method: str, query: str) -> None:
    before = await api.create(CONFIG_MAPS, config_map())
    path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/a"
    content_type = CONTENT_TYPES["merge"] if method == "PATCH" else "application/json"
    body = config_map("b" if method == "POST" else "a") | {"data": {"k": "2"}}
    check_refused(await api.fetch(method, f"{path}?{query}", body, content_type=content_type), 400, 422)
    assert (await api.get(f"{CONFIG_MAPS}/a")).body == before


PATHS = [
    "//",
    "/api//v1/pods",
    "/api/v1//namespaces/default/configmaps",
    "/api/v1/namespaces//configmaps",
    "/api/v1/namespaces/default/configmaps//",
    "/api/v1/namespaces/default/../default/configmaps",
    "/api/v1/namespaces/../configmaps",
    "/api/v1/namespaces/default/configmaps/..",
    "/api/v1/namespaces/default/configmaps/.",
    "/api/v1/namespaces/default/configmaps/..%2f..%2fsecrets",
    "/api/v1/namespaces/default/configmaps/a%2fb",
    "/api/v1/namespaces/default/configmaps/%00",
    "/api/v1/namespaces/default/configmaps/a%0ab",
    "/api/v1/namespaces/default/configmaps/%ff",
    "/api/v1/namespaces/default/configmaps/%F0%9F%92%A9",
    "/api/v1/namespaces/%2e%2e/configmaps",
    "/api/v1/namespaces/default%2fconfigmaps",
    "/api/v1/namespaces/default/configmaps/" + "x" * 7000,
    "/api/v1/" + "a/" * 2000,
    "/apis/" + "x" * 3000 + "/v1/y",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/openapi/v3/../../etc/passwd",
    "/openapi/v3/apis/nope/v1",
    "/healthz/../secrets",
    "/api/v1/namespaces/default/pods/a/log/b/c/d/e",
]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", PATHS, ids=[path[:60] for path in PATHS])
async def test_tricks_with_paths(api: Api, method: str, path: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    body = config_map() if method in ("PUT", "PATCH") else b""
    response = await api.fetch(
        method, path, body, content_type=CONTENT_TYPES["merge"] if method == "PATCH" else "application/json"
    )
    assert 200 <= response.code < 500, response.body
    assert (await api.get("/api/v1/namespaces/default")).code == 200


async def test_an_object_under_an_odd_path_is_not_another_one(api: Api) -> None:
    await api.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    for name in ("../secrets/s", "..%2Fsecrets%2Fs", "%2e%2e/secrets/s"):
        response = await api.get(f"{CONFIG_MAPS}/{name}")
        assert (response.body if isinstance(response.body, dict) else {}).get("kind") != "Secret"


async def test_a_pod_with_a_thousand_faults(api: Api) -> None:
    containers = [{"name": "A" * 300, "ports": [{"containerPort": 0}] * 20} for _ in range(300)]
    response = await api.post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers}})
    check_refused(response, 422)
    assert len(response.causes) == CAUSES_MAX
    assert response.message.endswith("and at least 900 more]")
