"""Paths and methods that lead nowhere.

Source: apiserver pkg/endpoints/installer.go, pkg/server/mux, apimachinery NewGenericServerResponse (1.36).
"""

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, PODS, WIDGETS, config_map, pod, widget, with_widgets


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/apis/nope.io/v1/x",
        "//api/v1/pods",
        "/apis//v1/pods",
        "//",
        "/healthz/",
        "/metrics/",
    ],
)
async def test_an_unknown_path_is_plain_text(api: Api, path: str) -> None:
    response = await api.get(path)
    assert (response.code, response.body) == (404, b"404 page not found\n")
    assert response.response.content_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nopes",
        "/api/v1/namespaces/default/nopes",
        "/apis/apps/v1/namespaces/default/nopes/x",
        f"{CONFIG_MAPS}/a/status",
        f"{CONFIG_MAPS}/a/nope",
        f"{PODS}/p/nope",
        f"{PODS}/p/status/more",
        "/api/v1/configmaps/a",
        "/api/v1/namespaces/default/nodes",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles",
    ],
)
async def test_an_unknown_resource_of_a_known_group_is_a_status(api: Api, path: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    await api.create(PODS, pod())
    response = await api.get(path)
    assert (response.code, response.reason) == (404, "NotFound")
    assert response.message == "the server could not find the requested resource"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", CONFIG_MAPS),
        ("PATCH", CONFIG_MAPS),
        ("POST", f"{CONFIG_MAPS}/a"),
        ("HEAD", CONFIG_MAPS),
        ("FOO", CONFIG_MAPS),
        ("DELETE", "/api/v1/configmaps"),
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews"),
        ("POST", f"{PODS}/p/status"),
        ("DELETE", f"{PODS}/p/status"),
        ("GET", f"{PODS}/p/binding"),
        ("GET", "/api/v1/namespaces/default/finalize"),
    ],
)
async def test_a_method_that_is_not_offered(api: Api, method: str, path: str) -> None:
    response = await api.fetch(method, path, b"{}" if method in ("PUT", "POST", "PATCH") else b"")
    assert (response.code, response.reason) == (405, "MethodNotAllowed")
    assert response.message == "the server does not allow this method on the requested resource"


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "BREW", "CONNECT"])
async def test_a_method_that_is_never_offered(api: Api, method: str) -> None:
    response = await api.fetch(method, f"{CONFIG_MAPS}/a")
    assert (response.code, response.reason) == (405, "MethodNotAllowed")


async def test_methods_of_custom_resources_are_named(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.post(f"{WIDGETS}/w", widget())
    assert (response.code, response.reason) == (405, "MethodNotAllowed")
    assert response.message == 'create is not supported on resources of kind "widgets.example.com"'


async def test_a_patch_of_another_kind_is_reported_before_its_missing_name(api: Api) -> None:
    await with_widgets(api)
    response = await api.fetch("PATCH", WIDGETS, widget(), content_type="application/json")
    assert (response.code, response.reason) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_custom_resource_is_not_written_without_its_name(api: Api, method: str) -> None:
    await with_widgets(api)
    response = await api.fetch(method, WIDGETS, widget(), content_type="application/merge-patch+json")
    assert (response.code, response.reason, response.message) == (400, "BadRequest", "name must be provided")


@pytest.mark.parametrize("path", ["/apis/example.com/v1/gadgets", "/apis/example.com/v2/widgets"])
async def test_an_unknown_resource_of_a_custom_group_is_plain_text(api: Api, path: str) -> None:
    await with_widgets(api)
    assert (await api.get(path)).body == b"404 page not found\n"


@pytest.mark.parametrize("path", ["/openapi/v3/", "/openapi/v3/nope", "/openapi/v3/apis/apps/v1/"])
async def test_an_unknown_openapi_document_is_404_without_a_body(api: Api, path: str) -> None:
    response = await api.get(path)
    assert (response.code, response.response.content_type, response.response.body) == (404, "", b"")


async def test_the_openapi_index_is_served_as_plain_text(api: Api) -> None:
    assert (await api.get("/openapi/v3")).response.content_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize("limit", ["", "+5", "1_000", "0x10"])
async def test_a_limit_that_is_no_number_is_refused(api: Api, limit: str) -> None:
    response = await api.get(f"{CONFIG_MAPS}?limit={limit}")
    assert response.code == 400
    shown = limit.replace("+", " ")
    assert response.body["message"] == f'strconv.ParseInt: parsing "{shown}": invalid syntax'


async def test_a_limit_whose_escape_is_broken_is_none(api: Api) -> None:
    assert (await api.get(f"{CONFIG_MAPS}?limit=%zz")).code == 200


async def test_every_response_has_audit_and_cache_headers(api: Api) -> None:
    response = await api.get(CONFIG_MAPS, **{"audit-id": "mine"})
    headers = {name.lower(): value for name, value in response.response.headers}
    assert headers[b"audit-id"] == b"mine"
    assert headers[b"cache-control"] == b"no-cache, private"


async def test_an_audit_id_is_made(api: Api) -> None:
    headers = {name.lower(): value for name, value in (await api.get("/nope")).response.headers}
    assert len(headers[b"audit-id"]) == 36


@pytest.mark.parametrize("timeout", ["x", "5", "1e"])
async def test_an_unreadable_timeout_is_refused(api: Api, timeout: str) -> None:
    response = await api.get(f"{CONFIG_MAPS}?timeout={timeout}")
    assert (response.code, response.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    "path",
    ["/api/v2/pods", "/api/V1/pods", "/apis/apps/v9/deployments", "/api/v1beta1/namespaces/default/pods", "/api/v9"],
)
async def test_a_version_that_a_built_in_group_has_not_is_a_status(api: Api, path: str) -> None:
    response = await api.get(path)
    assert (response.code, response.message) == (404, "the server could not find the requested resource")


NOT_ALLOWED = "the server does not allow this method on the requested resource"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/watch/pods"),
        ("DELETE", "/api/v1/watch/namespaces/default/configmaps/a"),
        ("OPTIONS", "/api/v1/pods"),
        ("POST", "/version"),
        ("HEAD", "/version"),
        ("HEAD", f"{PODS}/a/log"),
    ],
)
async def test_a_method_that_a_path_has_not_is_405(api: Api, method: str, path: str) -> None:
    response = await api.fetch(method, path, b"")
    assert (response.code, response.message) == (405, NOT_ALLOWED)


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default/bindings/a", "/api/v1/bindings"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_create_only_resources_have_no_other_paths(api: Api, method: str, path: str) -> None:
    response = await api.fetch(method, path, b"")
    assert (response.code, response.message) == (404, "the server could not find the requested resource")


@pytest.mark.parametrize("method", ["PUT", "POST", "OPTIONS"])
async def test_health_accepts_every_method(api: Api, method: str) -> None:
    assert (await api.fetch(method, "/readyz/ping", b"")).code == 200


async def test_the_version_is_shown_for_people_to_read(api: Api) -> None:
    response = await api.get("/version", user_agent="kubectl/1")
    assert response.response.body.startswith(b'{\n  "major": "1",\n')
