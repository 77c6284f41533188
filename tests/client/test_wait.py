"""Waiting for an object, in virtual time."""

from typing import Any

import pytest

from sampan.client import (
    Client,
    Forbidden,
    ResourceClient,
    TransportError,
    WaitTimeout,
    condition_is,
    deleted,
    exists,
    wait_for,
)
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo
from sampan.testing import elapsed, virtual_time
from tests.client.scripted_transport import (
    Part,
    ScriptedResponse,
    ScriptedTransport,
    body,
    error_event,
    event,
    lines,
    list_body,
    reply,
)

CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)
READY: dict[str, Any] = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
NOT_READY: dict[str, Any] = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
SILENCE = ScriptedResponse(parts=[float("1e9")])
BROKEN = TransportError("broken", sent=True)


def client_with(*responses: ScriptedResponse | Exception) -> tuple[ResourceClient[Object], ScriptedTransport]:
    transport = ScriptedTransport(list(responses))
    return Client(transport).resource(CONFIG_MAPS), transport


def there(*items: bytes) -> ScriptedResponse:
    return reply(list_body(*items, version=5))


@virtual_time
async def test_a_condition_that_is_met_already_needs_no_watch() -> None:
    client, transport = client_with(there(body("a", 1, **READY)))
    found = await wait_for(client, "a", condition_is("Ready"), timeout_s=1)
    assert found is not None
    assert found["metadata"]["name"] == "a"
    assert [query["fieldSelector"] for query in transport.queries] == ["metadata.name=a"]


@virtual_time
async def test_a_change_is_waited_for_from_where_the_list_ended() -> None:
    events: list[Part] = [
        3.0,
        lines(event("MODIFIED", "a", 6, **NOT_READY)),
        4.0,
        lines(event("MODIFIED", "a", 7, **READY)),
    ]
    client, transport = client_with(there(body("a", 1)), ScriptedResponse(parts=events))
    assert await elapsed(wait_for(client, "a", condition_is("Ready"), timeout_s=10)) == 7
    assert transport.queries[1]["resourceVersion"] == "5"


@virtual_time
async def test_the_end_of_an_object_is_none() -> None:
    client, _ = client_with(there(body("a", 1)), reply(lines(event("DELETED", "a", 6))))
    assert await wait_for(client, "a", deleted(), timeout_s=10) is None


@virtual_time
async def test_an_object_that_is_not_there_yet_is_waited_for() -> None:
    client, _ = client_with(there(), reply(lines(event("ADDED", "a", 6))))
    assert await wait_for(client, "a", exists(), timeout_s=10) is not None


@virtual_time
async def test_a_function_sees_the_decoded_object() -> None:
    client, _ = client_with(there(), reply(lines(event("ADDED", "a", 6, data={"x": "1"}))))
    found = await wait_for(client, "a", lambda obj: obj is not None and obj["data"]["x"] == "1", timeout_s=10)
    assert found is not None


@virtual_time
async def test_a_timeout_reports_the_last_known_state() -> None:
    client, _ = client_with(there(body("a", 4, **NOT_READY)), SILENCE)
    with pytest.raises(
        WaitTimeout, match=r"waited 10 s for configmaps 'a' for condition Ready=True; last seen .* Ready=False"
    ):
        await wait_for(client, "a", condition_is("Ready"), timeout_s=10)


@virtual_time
async def test_a_timeout_without_the_object_reports_that_there_is_none() -> None:
    client, _ = client_with(there(), SILENCE)
    with pytest.raises(TimeoutError, match="there is no such object"):
        await wait_for(client, "a", exists(), timeout_s=10)


@virtual_time
async def test_faults_on_the_way_are_waited_out() -> None:
    client, _ = client_with(
        BROKEN,
        reply({"kind": "Status", "code": 503, "reason": "ServiceUnavailable"}, 503),
        there(),
        BROKEN,
        ScriptedResponse(parts=[BROKEN]),
        reply(lines(event("ADDED", "a", 6))),
    )
    assert await wait_for(client, "a", exists(), timeout_s=100) is not None


@virtual_time
async def test_when_the_server_has_forgotten_it_lists_again() -> None:
    client, transport = client_with(there(), reply(lines(error_event(410, "Expired"))), there(body("a", 9)))
    assert await wait_for(client, "a", exists(), timeout_s=10) is not None
    assert len(transport.requests) == 3


@virtual_time
async def test_a_server_that_forgets_at_once_is_called_about_once_a_second() -> None:
    client, transport = client_with()

    def forgetful(request: Any) -> ScriptedResponse:
        return reply(lines(error_event(410, "Expired"))) if "watch=true" in request.target else there()

    transport.by = forgetful
    with pytest.raises(WaitTimeout):
        await wait_for(client, "a", exists(), timeout_s=9.5)
    assert len(transport.requests) == 20


@virtual_time
async def test_a_refusal_is_raised() -> None:
    client, _ = client_with(reply({"kind": "Status", "code": 403, "reason": "Forbidden"}, 403))
    with pytest.raises(Forbidden):
        await wait_for(client, "a", exists(), timeout_s=10)


@virtual_time
async def test_a_time_out_of_the_conditions_own_is_not_mistaken() -> None:
    client, _ = client_with(there())

    def condition(_: Object | None) -> bool:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine") as raised:
        await wait_for(client, "a", condition, timeout_s=10)
    assert not isinstance(raised.value, WaitTimeout)


@virtual_time
async def test_in_all_namespaces_there_is_no_one_object() -> None:
    client, _ = client_with()
    with pytest.raises(ValueError, match="namespace"):
        await wait_for(client.in_namespace(""), "a", exists(), timeout_s=10)
