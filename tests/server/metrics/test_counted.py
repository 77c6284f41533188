"""Requests that /metrics counts, and their labels: compared with kube-apiserver 1.36.3."""

from typing import Any

import pytest

from sampan.core.errors import too_many_requests
from sampan.server.request import Request, Response
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRDS, GROUP, SHIRTS, crd, schema, shirt, version
from tests.server.frame import JANE, Frame
from tests.server.verbs.conftest import api

__all__ = ["api"]

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = {"metadata": {"name": "a"}}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TOTAL = "apiserver_request_total"


async def counts(api: Api, name: str = TOTAL) -> dict[str, float]:
    """Every series of a metric: its labels that are not empty, but for the component apiserver, and its value."""
    text = (await api.client.get("/metrics")).body.decode()
    found = {}
    for line in text.splitlines():
        labels, _, value = line.removeprefix(name).rpartition(" ")
        if line.startswith(f"{name}{{"):
            known = [pair for pair in labels[1:-1].split(",") if not pair.endswith(('=""', '="apiserver"'))]
            found[",".join(known).replace('"', "")] = float(value)
    return found


async def counted(api: Api, *request: Any, name: str = TOTAL, **headers: str) -> list[str]:
    """Under which labels a request is counted."""
    before = await counts(api, name)
    response = await api.fetch(*request, **headers)
    if response.response.stream is not None:
        assert await counts(api, name) == before
        assert response.response.finished is not None
        response.response.finished()
    after = await counts(api, name)
    return [labels for labels, value in after.items() if value > before.get(labels, 0)]


@pytest.mark.parametrize(
    "request_",
    [
        ("GET", "/nope"),
        ("GET", "/api/v1/nopes"),
        ("GET", "/apis/nope/v1/foos"),
        ("GET", "/apis/apps/v9/deployments"),
        ("PUT", CONFIG_MAPS, {}),
        ("DELETE", "/api/v1/configmaps"),
        ("HEAD", CONFIG_MAPS),
        ("FOO", CONFIG_MAPS),
        ("GET", "/"),
        ("GET", "/api/v1"),
        ("GET", "/apis"),
        ("GET", "/version"),
        ("GET", "/metrics"),
        ("GET", "/healthz/etcd"),
        ("GET", "/healthz/"),
        ("GET", "/openapi/v2"),
        ("GET", f"{CONFIG_MAPS}?timeout=bad"),
    ],
    ids=lambda request: " ".join(map(str, request)),
)
async def test_requests_that_kubernetes_does_not_count_are_not_counted(api: Api, request_: tuple[Any, ...]) -> None:
    assert await counted(api, *request_) == []


@pytest.mark.parametrize("headers", [{"authorization": "Bearer wrong"}, JANE], ids=["401", "403"])
async def test_a_client_that_may_not_request_is_not_counted(api: Api, headers: dict[str, str]) -> None:
    before = await counts(api)
    assert (await Api(api.server, headers).get(CONFIG_MAPS)).code in (401, 403)
    assert (await api.get(CONFIG_MAPS, impersonate_user="jane")).code == 403
    assert await counts(api) == before


async def test_responses_to_unacceptable_media_types_are_not_counted(api: Api) -> None:
    assert await counted(api, "GET", f"{CONFIG_MAPS}/a", accept="text/nope") == []


@pytest.mark.parametrize(
    ("request_", "labels"),
    [
        (("GET", CONFIG_MAPS), "code=200,resource=configmaps,scope=namespace,verb=LIST,version=v1"),
        (("GET", "/api/v1/configmaps"), "code=200,resource=configmaps,scope=cluster,verb=LIST,version=v1"),
        (("GET", f"{CONFIG_MAPS}/x"), "code=404,resource=configmaps,scope=resource,verb=GET,version=v1"),
        (("POST", CONFIG_MAPS, CONFIG_MAP), "code=201,resource=configmaps,scope=resource,verb=POST,version=v1"),
        (("POST", CONFIG_MAPS, b"{"), "code=400,resource=configmaps,scope=resource,verb=POST,version=v1"),
        (("DELETE", CONFIG_MAPS), "code=200,resource=configmaps,scope=namespace,verb=DELETE,version=v1"),
        (
            ("POST", f"{CONFIG_MAPS}?dryRun=All", CONFIG_MAP),
            "code=201,dry_run=All,resource=configmaps,scope=resource,verb=POST,version=v1",
        ),
        (
            ("POST", f"{CONFIG_MAPS}?dryRun=Some", CONFIG_MAP),
            "code=422,dry_run=invalid,resource=configmaps,scope=resource,verb=POST,version=v1",
        ),
        (
            ("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Dx"),
            "code=200,resource=configmaps,scope=namespace,verb=LIST,version=v1",
        ),
        (("GET", f"{CONFIG_MAPS}?watch=1"), "code=200,resource=configmaps,scope=namespace,verb=WATCH,version=v1"),
        (
            ("GET", "/api/v1/watch/configmaps"),
            "code=200,resource=configmaps,scope=cluster,verb=WATCH,version=v1",
        ),
        (
            ("GET", "/api/v1/namespaces/default/pods/p/log"),
            "code=404,resource=pods,scope=resource,subresource=log,verb=CONNECT,version=v1",
        ),
        (
            ("POST", "/api/v1/namespaces/default/services/s/proxy/x"),
            "code=404,resource=services,scope=resource,subresource=proxy,verb=CONNECT,version=v1",
        ),
        (("GET", "/readyz"), "code=200,component=,subresource=/readyz,verb=GET"),
        (("FOO", "/livez"), "code=200,component=,subresource=/livez,verb=other"),
        (("GET", "/openapi/v3"), "code=200,component=,subresource=openapi/v3,verb=GET"),
        (("GET", "/openapi/v3/nope"), "code=404,component=,subresource=openapi/v3/,verb=GET"),
        (("GET", "/statusz"), "code=200,resource=statusz,verb=GET"),
        (("GET", "/flagz"), "code=200,resource=flagz,verb=GET"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
async def test_requests_are_counted_under_the_labels_of_kubernetes(
    api: Api, request_: tuple[Any, ...], labels: str
) -> None:
    assert await counted(api, *request_) == [labels.replace("component=,", "")]


async def test_the_health_of_the_server_is_counted_for_no_component(api: Api) -> None:
    await api.get("/readyz")
    text = (await api.client.get("/metrics")).body.decode()
    assert f'{TOTAL}{{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/readyz"' in text


@pytest.mark.parametrize(("path", "shown"), [("/api", "api"), ("/apis", "apis")])
async def test_only_aggregated_discovery_is_counted(api: Api, path: str, shown: str) -> None:
    assert await counted(api, "GET", path, accept=AGGREGATED) == [f"code=200,subresource={shown},verb=GET"]
    assert await counted(api, "GET", path) == []


@pytest.mark.parametrize(
    ("content_type", "verb"),
    [("application/apply-patch+yaml", "APPLY"), ("application/apply-patch+yaml; charset=utf-8", "PATCH")],
)
async def test_an_apply_is_reported_by_its_very_content_type(api: Api, content_type: str, verb: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", **CONFIG_MAP}
    path = f"{CONFIG_MAPS}/a?fieldManager=m"
    found = await counted(api, "PATCH", path, body, content_type=content_type)
    assert found == [f"code=201,resource=configmaps,scope=resource,verb={verb},version=v1"]


async def test_custom_resources_are_counted_by_what_the_request_names(api: Api) -> None:
    await api.create(CRDS, crd(version("v1", schema({}))))
    of = f"group={GROUP},resource=shirts"
    assert await counted(api, "POST", SHIRTS, shirt("a")) == [f"code=201,{of},scope=resource,verb=POST,version=v1"]
    selected = f"{SHIRTS}?fieldSelector=metadata.name%3Da"
    assert await counted(api, "GET", selected) == [f"code=200,{of},scope=resource,verb=GET,version=v1"]
    assert await counted(api, "PUT", SHIRTS, shirt("a")) == [f"code=400,{of},scope=namespace,verb=PUT,version=v1"]
    assert await counted(api, "GET", f"{SHIRTS}/a/nope") == []


async def test_watches_are_sized_by_what_they_have_sent_when_they_end(api: Api) -> None:
    sizes = "apiserver_response_sizes_count"
    assert await counted(api, "GET", f"{CONFIG_MAPS}?watch=1", name=sizes) == [
        "resource=configmaps,scope=namespace,verb=WATCH,version=v1"
    ]
    assert await counted(api, "GET", "/api/v1/watch/configmaps", name=sizes) == []


@pytest.mark.parametrize("path", [f"{CONFIG_MAPS}/a", "/readyz"])
async def test_a_request_refused_for_overload_is_counted_as_429(path: str) -> None:
    async def full(request: Request) -> Response:
        request.terminated = True
        raise too_many_requests("too many requests, please try again later", 1)

    frame = Frame(full)
    await frame.client().get(path)
    samples = [sample for family in frame.metrics.collect() for sample in family.samples]
    found = [each.labels for each in samples if each.name == TOTAL]
    assert [(each["code"], each["verb"], each["resource"], each["subresource"]) for each in found] == [
        ("429", "GET", "configmaps" if "configmaps" in path else "", "")
    ]
    durations = [each for each in samples if each.name == "apiserver_request_duration_seconds_count"]
    assert durations == []


async def test_a_fault_of_the_server_is_reported_by_its_log_alone() -> None:
    async with served() as api:

        async def panics(*_: object, **__: object) -> object:
            raise KeyError("x")

        api.cluster.store.create = panics  # type: ignore[method-assign,assignment]  # a bug
        assert await counted(api, "POST", CONFIG_MAPS, CONFIG_MAP) == []


async def test_a_client_that_acts_as_another_user_is_counted_by_mode(api: Api) -> None:
    await api.get(CONFIG_MAPS, impersonate_user="bob")
    assert (await Api(api.server, JANE).get(CONFIG_MAPS, impersonate_user="bob")).code == 403
    attempts = await counts(api, "apiserver_impersonation_attempts_total")
    assert attempts == {"decision=allowed,mode=user-info": 1, "decision=denied": 1}
    questions = await counts(api, "apiserver_impersonation_authorization_attempts_total")
    assert questions == {
        "decision=allowed,mode=user-info": 2,
        "decision=denied,mode=user-info": 1,
        "decision=denied,mode=legacy": 1,
    }
