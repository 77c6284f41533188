"""Requests and answers in the API's terms."""

import pytest

from sampan.client import ApiError, ListOptions, NotFound, TooManyRequests, TransportError, TransportTimeout
from sampan.client.rest_client import RESTClient, resource_path
from sampan.client.watching.resource_list_watch import IDLE_MARGIN_S, ResourceListWatch
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from tests.client.scripted_transport import (
    ScriptedResponse,
    ScriptedTransport,
    body,
    error_event,
    event,
    lines,
    list_body,
    reply,
)

PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", True)
ROLES = ResourceInfo(GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterroles"), "ClusterRole", False)


def watched(response: ScriptedResponse) -> tuple[ResourceListWatch, ScriptedTransport]:
    transport = ScriptedTransport([response])
    return ResourceListWatch(RESTClient(transport), PODS, "default", "app=x", "spec.nodeName=n"), transport


def test_paths_are_quoted() -> None:
    assert resource_path(ROLES, "system:node") == "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"
    assert resource_path(PODS, "a b?#ü", "log", namespace="x") == "/api/v1/namespaces/x/pods/a%20b%3F%23%C3%BC/log"


@pytest.mark.parametrize("name", ["..", ".", "../secrets/x", "a/b", "a%2fb"])
def test_a_name_cannot_lead_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match="segment"):
        resource_path(PODS, name, namespace="x")
    with pytest.raises(ValueError, match="segment"):
        resource_path(PODS, "a", namespace=name)


async def test_an_error_response_raises_and_is_closed() -> None:
    status = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "gone"}
    response = reply(status, 404)
    with pytest.raises(NotFound, match="gone"):
        await RESTClient(ScriptedTransport([response])).call("GET", "/api")
    assert response.closed


@pytest.mark.parametrize("code", [302, 502])
async def test_an_error_of_a_proxy_keeps_its_text_and_code(code: int) -> None:
    with pytest.raises(ApiError, match="the proxy") as raised:
        await RESTClient(ScriptedTransport([reply(b"the proxy", code)])).call("GET", "/api")
    assert raised.value.code == code


async def test_retry_after_is_kept() -> None:
    transport = ScriptedTransport([reply(b"", 429, retry_after="3")])
    with pytest.raises(TooManyRequests) as raised:
        await RESTClient(transport).call("GET", "/api")
    assert raised.value.retry_after_s == 3


async def test_a_truncated_body_closes_the_response() -> None:
    response = ScriptedResponse(parts=[b"{", TransportError("broken", sent=True)])
    with pytest.raises(TransportError):
        await RESTClient(ScriptedTransport([response])).call("GET", "/api")
    assert response.closed


async def test_a_list_requests_what_it_selects_and_for_what_the_options_select() -> None:
    lists, transport = watched(reply(list_body(body("a", 1))))
    await lists.list(ListOptions(label_selector="tier=y", limit=3))
    assert transport.queries == [
        {"labelSelector": "app=x,tier=y", "fieldSelector": "spec.nodeName=n", "limit": "3"},
    ]


async def test_a_watch_ends_after_five_to_ten_minutes_unless_reported_otherwise() -> None:
    lists, transport = watched(reply(b""))
    assert [batch async for batch in lists.watch(ListOptions())] == [()]
    timeout_s = int(transport.queries[0]["timeoutSeconds"])
    assert 300 <= timeout_s <= 600
    assert transport.requests[0].idle_timeout_s == timeout_s + IDLE_MARGIN_S
    assert transport.requests[0].timeout_s == 30
    assert transport.requests[0].stream


async def test_a_watchs_own_time_out_is_reported() -> None:
    lists, transport = watched(reply(b""))
    async for _ in lists.watch(ListOptions(timeout_seconds=20, resource_version="7")):
        pass
    assert transport.queries[0]["timeoutSeconds"] == "20"
    assert transport.queries[0]["resourceVersion"] == "7"
    assert transport.queries[0]["watch"] == "true"
    assert transport.requests[0].idle_timeout_s == 50


async def test_error_events_are_handed_on_raw() -> None:
    lists, _ = watched(reply(lines(event("ADDED", "a", 1), error_event(410, "Expired"))))
    [_, batch] = [batch async for batch in lists.watch(ListOptions())]
    assert [each.type for each in batch] == ["ADDED", "ERROR"]


async def test_a_watch_that_is_refused_is_an_error() -> None:
    lists, _ = watched(reply({"kind": "Status", "code": 404, "reason": "NotFound"}, 404))
    with pytest.raises(NotFound):
        await anext(lists.watch(ListOptions()))


async def test_a_watch_that_falls_silent_gives_what_came_and_then_the_time_out() -> None:
    lists, _ = watched(ScriptedResponse(parts=[lines(event("ADDED", "a", 1)), TransportTimeout("silent", sent=True)]))
    events = lists.watch(ListOptions())
    assert [len(await anext(events)) for _ in range(2)] == [0, 1]
    with pytest.raises(TransportTimeout):
        await anext(events)


async def test_a_watch_that_is_closed_gives_its_connection_up() -> None:
    response = ScriptedResponse(parts=[lines(event("ADDED", "a", 1)), 1000.0])
    lists, _ = watched(response)
    events = lists.watch(ListOptions())
    await anext(events)
    await events.aclose()
    assert response.closed
